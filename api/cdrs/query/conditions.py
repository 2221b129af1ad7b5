"""What each filter asks of a call, as SQL; values are parameters, named after the filters."""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.query.filters import PURPOSES, Filters, agent_parameter
from api.cdrs.tables import agents, cdrs, numbers

Condition = sa.ColumnElement[bool]
# Rows that are looked at, beside the one that is looked up.
CALL, CALL_AGENTS, CALL_NUMBERS = (
    cdrs.alias("call"),
    agents.alias("its_agents"),
    numbers.alias("its_numbers"),
)


def parameter(column: sa.Column[Any], name: str = "") -> sa.BindParameter[Any]:
    """Give the parameter that a column is compared with; of the same name, unless it is said."""
    return sa.bindparam(name or column.name, type_=column.type)


def account_condition(table: sa.FromClause) -> Condition:
    """Ask for the account's own."""
    return table.c.account_id == parameter(cdrs.c.account_id)


class IndexEntry(Struct, frozen=True):
    """What an index has of a call, as columns of what it is read from."""

    started_ms: sa.ColumnElement[int]
    cdr_id: sa.ColumnElement[int]
    marks: sa.ColumnElement[int]


def remaining_conditions(
    filters: Filters, taken: frozenset[str], entry: IndexEntry
) -> list[Condition]:
    """Ask for what a call must have besides what is `taken`: of its marks, and then of its rows."""
    others = filters.names - taken
    if not others:
        return []
    found: list[Condition] = []
    if filters.signed:
        found.append(entry.marks.bitwise_and(_marks("mask")) == _marks("marks"))
    if filters.agent_names:
        found.append(entry.marks.bitwise_and(_marks("agent_marks")) != 0)
    if columns := [
        CALL.c[name] == parameter(cdrs.c[name]) for name in filters.columns if name in others
    ]:
        found.append(_has(CALL, CALL.c.id, CALL.c.id == entry.cdr_id, *columns))
    if "agent_names" in others:
        found.append(_with_agent(filters, entry))
    if "number" in others:
        same = (
            CALL_NUMBERS.c.started_ms == entry.started_ms,
            CALL_NUMBERS.c.cdr_id == entry.cdr_id,
        )
        found.append(
            _has(
                CALL_NUMBERS,
                CALL_NUMBERS.c.cdr_id,
                *number_conditions(filters, CALL_NUMBERS),
                *same,
            )
        )
    return found


def recording_conditions(filters: Filters) -> list[Condition]:
    """Ask for a recording of a purpose, and for missed calls, in the words of their indexes."""
    found: list[Condition] = [cdrs.c[PURPOSES[filters.purpose]] == sa.true()]
    if filters.is_answered is False:
        found.append(cdrs.c.is_answered == sa.false())
    return found


def time_conditions(
    filters: Filters, started_ms: sa.Column[int], cdr_id: sa.Column[int]
) -> list[Condition]:
    """Ask for the time in which calls began, and for those that were there at some time."""
    found: list[Condition] = []
    if filters.start_ms is not None:
        found.append(started_ms >= parameter(started_ms, "start_ms"))
    if filters.end_ms is not None:
        found.append(started_ms < parameter(started_ms, "end_ms"))
    if filters.newest_id is not None:
        found.append(cdr_id <= parameter(cdr_id, "newest_id"))
    return found


def number_conditions(filters: Filters, table: sa.FromClause = numbers) -> list[Condition]:
    """Ask for a number of a call, in any part or as one that was called."""
    name = "dialed_number" if filters.dialed_number else "number"
    found: list[Condition] = [
        account_condition(table),
        table.c.number == parameter(numbers.c.number, name),
    ]
    if filters.dialed_number:
        found.append(table.c.is_dialed == sa.true())
    return found


def _marks(name: str) -> sa.BindParameter[int]:
    return parameter(cdrs.c.marks, name)


def _with_agent(filters: Filters, entry: IndexEntry) -> Condition:
    some = [
        parameter(agents.c.agent_name, agent_parameter(n)) for n in range(len(filters.agent_names))
    ]
    its = (CALL_AGENTS.c.cdr_id == entry.cdr_id, CALL_AGENTS.c.agent_name.in_(some))
    return _has(CALL_AGENTS, CALL_AGENTS.c.cdr_id, *its)


def _has(table: sa.FromClause, key: sa.ColumnElement[int], *conditions: Condition) -> Condition:
    """Ask for a row beside an entry, for each entry alone: EXISTS may be made of all there are."""
    its = sa.select(key).where(*conditions).limit(1)
    return its.correlate_except(table).scalar_subquery().is_not(None)
