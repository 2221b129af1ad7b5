"""The SQL conditions of each filter; values are parameters, named after the filters."""

from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.query.filters import PURPOSES, Filters, agent_parameter
from api.cdrs.tables import agents, cdrs, numbers

Condition = sa.ColumnElement[bool]
# Rows that are checked for an index entry.
CALL, CALL_AGENTS, CALL_NUMBERS = (
    cdrs.alias("call"),
    agents.alias("its_agents"),
    numbers.alias("its_numbers"),
)


def parameter(column: sa.Column[Any], name: str = "") -> sa.BindParameter[Any]:
    """Return the parameter that a column is compared with, named after the column by default."""
    return sa.bindparam(name or column.name, type_=column.type)


def account_condition(table: sa.FromClause) -> Condition:
    """Match the rows of the account."""
    return table.c.account_id == parameter(cdrs.c.account_id)


class IndexEntry(Struct, frozen=True):
    """The columns of an index entry."""

    started_ms: sa.ColumnElement[int]
    cdr_id: sa.ColumnElement[int]
    marks: sa.ColumnElement[int]


def remaining_conditions(
    filters: Filters, answered: frozenset[str], entry: IndexEntry
) -> list[Condition]:
    """Match the filters that a scan has not `answered`: by signature first, then by rows."""
    remaining = filters.names - answered
    if not remaining:
        return []
    conditions: list[Condition] = []
    if filters.signed:
        conditions.append(entry.marks.bitwise_and(_signature("mask")) == _signature("marks"))
    if filters.agent_names:
        conditions.append(entry.marks.bitwise_and(_signature("agent_marks")) != 0)
    if columns := [
        CALL.c[name] == parameter(cdrs.c[name]) for name in filters.columns if name in remaining
    ]:
        conditions.append(_has(CALL, CALL.c.id, CALL.c.id == entry.cdr_id, *columns))
    if "agent_names" in remaining:
        conditions.append(_with_agent(filters, entry))
    if "agent_id" in remaining:
        is_agent = CALL_AGENTS.c.agent_id == parameter(agents.c.agent_id)
        same_call = CALL_AGENTS.c.cdr_id == entry.cdr_id
        conditions.append(_has(CALL_AGENTS, CALL_AGENTS.c.cdr_id, same_call, is_agent))
    if "number" in remaining:
        same = (
            CALL_NUMBERS.c.started_ms == entry.started_ms,
            CALL_NUMBERS.c.cdr_id == entry.cdr_id,
        )
        conditions.append(
            _has(
                CALL_NUMBERS,
                CALL_NUMBERS.c.cdr_id,
                *number_conditions(filters, CALL_NUMBERS),
                *same,
            )
        )
    return conditions


def recording_conditions(filters: Filters) -> list[Condition]:
    """Match calls with a recording, and missed calls, as the partial indexes phrase it."""
    conditions: list[Condition] = [cdrs.c[PURPOSES[filters.purpose]] == sa.true()]
    if filters.is_answered is False:
        conditions.append(cdrs.c.is_answered == sa.false())
    return conditions


def time_conditions(
    filters: Filters, started_ms: sa.Column[int], cdr_id: sa.Column[int]
) -> list[Condition]:
    """Match the time range, and the calls that existed when an export started."""
    conditions: list[Condition] = []
    if filters.start_ms is not None:
        conditions.append(started_ms >= parameter(started_ms, "start_ms"))
    if filters.end_ms is not None:
        conditions.append(started_ms < parameter(started_ms, "end_ms"))
    if filters.newest_id is not None:
        conditions.append(cdr_id <= parameter(cdr_id, "newest_id"))
    return conditions


def number_conditions(filters: Filters, table: sa.FromClause = numbers) -> list[Condition]:
    """Match a number that took part in a call, or one that was dialled."""
    name = "dialed_number" if filters.dialed_number else "number"
    conditions: list[Condition] = [
        account_condition(table),
        table.c.number == parameter(numbers.c.number, name),
    ]
    if filters.dialed_number:
        conditions.append(table.c.is_dialed == sa.true())
    return conditions


def _signature(name: str) -> sa.BindParameter[int]:
    return parameter(cdrs.c.marks, name)


def _with_agent(filters: Filters, entry: IndexEntry) -> Condition:
    names = [
        parameter(agents.c.agent_name, agent_parameter(n)) for n in range(len(filters.agent_names))
    ]
    matches = (CALL_AGENTS.c.cdr_id == entry.cdr_id, CALL_AGENTS.c.agent_name.in_(names))
    return _has(CALL_AGENTS, CALL_AGENTS.c.cdr_id, *matches)


def _has(table: sa.FromClause, key: sa.ColumnElement[int], *conditions: Condition) -> Condition:
    """Match an entry with such a row; a scalar subquery, because EXISTS may scan all rows."""
    rows = sa.select(key).where(*conditions).limit(1)
    return rows.correlate_except(table).scalar_subquery().is_not(None)
