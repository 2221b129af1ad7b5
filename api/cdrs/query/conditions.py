"""What each filter asks of a call, as SQL; values are parameters, named after the filters."""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.query.filters import PURPOSES, Filters, agent
from api.cdrs.tables import agents, cdrs, numbers

Condition = sa.ColumnElement[bool]
# Rows that are looked at, beside the one that is looked up.
CALL, AGENTS, PARTS = cdrs.alias("call"), agents.alias("its_agents"), numbers.alias("its_numbers")


def asked(column: sa.Column[Any], name: str = "") -> sa.BindParameter[Any]:
    """Give the parameter that a column is compared with; of the same name, unless it is said."""
    return sa.bindparam(name or column.name, type_=column.type)


def of_account(table: sa.FromClause) -> Condition:
    """Ask for the account's own."""
    return table.c.account_id == asked(cdrs.c.account_id)


class Entry(Struct, frozen=True):
    """What an index has of a call, as columns of what it is read from."""

    started_ms: sa.ColumnElement[int]
    cdr_id: sa.ColumnElement[int]
    marks: sa.ColumnElement[int]


def fits(filters: Filters, taken: frozenset[str], entry: Entry) -> list[Condition]:
    """Ask for what a call must have besides what is `taken`: of its marks, and then of its rows."""
    others = filters.names - taken
    if not others:
        return []
    found: list[Condition] = []
    if filters.marked:
        found.append(entry.marks.bitwise_and(_marks("mask")) == _marks("marks"))
    if filters.agent_names:
        found.append(entry.marks.bitwise_and(_marks("agent_marks")) != 0)
    if columns := [
        CALL.c[name] == asked(cdrs.c[name]) for name in filters.columns if name in others
    ]:
        found.append(_has(CALL, CALL.c.id, CALL.c.id == entry.cdr_id, *columns))
    if "agent_names" in others:
        found.append(_with_agent(filters, entry))
    if "number" in others:
        same = (PARTS.c.started_ms == entry.started_ms, PARTS.c.cdr_id == entry.cdr_id)
        found.append(_has(PARTS, PARTS.c.cdr_id, *of_number(filters, PARTS), *same))
    return found


def with_purpose(filters: Filters) -> list[Condition]:
    """Ask for a recording of a purpose, and for missed calls, in the words of their indexes."""
    found: list[Condition] = [cdrs.c[PURPOSES[filters.purpose]] == sa.true()]
    if filters.is_answered is False:
        found.append(cdrs.c.is_answered == sa.false())
    return found


def in_time(
    filters: Filters, started_ms: sa.Column[int], cdr_id: sa.Column[int]
) -> list[Condition]:
    """Ask for the time in which calls began, and for those that were there at some time."""
    found: list[Condition] = []
    if filters.start_ms is not None:
        found.append(started_ms >= asked(started_ms, "start_ms"))
    if filters.end_ms is not None:
        found.append(started_ms < asked(started_ms, "end_ms"))
    if filters.newest_id is not None:
        found.append(cdr_id <= asked(cdr_id, "newest_id"))
    return found


def of_number(filters: Filters, table: sa.FromClause = numbers) -> list[Condition]:
    """Ask for a number of a call, in any part or as one that was called."""
    name = "dialed_number" if filters.dialed_number else "number"
    found: list[Condition] = [
        of_account(table),
        table.c.number == asked(numbers.c.number, name),
    ]
    if filters.dialed_number:
        found.append(table.c.is_dialed == sa.true())
    return found


def _marks(name: str) -> sa.BindParameter[int]:
    return asked(cdrs.c.marks, name)


def _with_agent(filters: Filters, entry: Entry) -> Condition:
    some = [asked(agents.c.agent_name, agent(n)) for n in range(len(filters.agent_names))]
    its = (AGENTS.c.cdr_id == entry.cdr_id, AGENTS.c.agent_name.in_(some))
    return _has(AGENTS, AGENTS.c.cdr_id, *its)


def _has(table: sa.FromClause, key: sa.ColumnElement[int], *conditions: Condition) -> Condition:
    """Ask for a row beside an entry, for each entry alone: EXISTS may be made of all there are."""
    its = sa.select(key).where(*conditions).limit(1)
    return its.correlate_except(table).scalar_subquery().is_not(None)
