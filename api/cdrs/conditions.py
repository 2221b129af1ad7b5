"""What each filter asks of a call, as SQL; values are parameters, named after the filters."""

from typing import Any

import sqlalchemy as sa

from api.cdrs.filters import PURPOSES, Filters, agent
from api.cdrs.tables import agents, cdrs, numbers

Condition = sa.ColumnElement[bool]
CALL = cdrs.alias("call")  # whose row is looked at, by its id


def asked(column: sa.Column[Any], name: str = "") -> sa.BindParameter[Any]:
    """Give the parameter that a column is compared with; of the same name, unless it is said."""
    return sa.bindparam(name or column.name, type_=column.type)


def of_account(table: sa.Table) -> Condition:
    """Ask for the account's own."""
    return table.c.account_id == asked(table.c.account_id)


def fits(
    filters: Filters,
    taken: frozenset[str],
    marks: sa.ColumnElement[int],
    cdr_id: sa.ColumnElement[int],
) -> list[Condition]:
    """Ask for what a call must have besides what is `taken`: of its marks, and then of its row."""
    others = _names(filters) - taken
    if not others:
        return []
    found: list[Condition] = []
    if filters.marked:
        found.append(marks.bitwise_and(_marks("mask")) == _marks("marks"))
    if filters.agent_names:
        found.append(marks.bitwise_and(_marks("agent_marks")) != 0)
    if rest := [each for name, each in _looked_at(filters).items() if name in others]:
        call: sa.Select[Any] = sa.select(sa.literal_column("1")).where(CALL.c.id == cdr_id, *rest)
        found.append(call.correlate_except(CALL).scalar_subquery().is_not(None))
    return found


def _names(filters: Filters) -> frozenset[str]:
    """Name all filters but time's."""
    given = {
        "is_answered": filters.is_answered is not None,
        "purpose": bool(filters.purpose),
        "number": bool(filters.dialed_number or filters.number),
        "agent_names": bool(filters.agent_names),
    }
    return frozenset((*filters.columns, *(name for name, is_given in given.items() if is_given)))


def _looked_at(filters: Filters) -> dict[str, Condition]:
    """Give the condition of each filter that marks don't tell for sure."""
    found = {name: CALL.c[name] == asked(cdrs.c[name]) for name in filters.columns}
    if filters.dialed_number or filters.number:
        same = (numbers.c.started_ms == CALL.c.started_ms, numbers.c.cdr_id == CALL.c.id)
        found["number"] = _has(numbers, *of_number(filters), *same)
    if filters.agent_names:
        names = [asked(agents.c.agent_name, agent(n)) for n in range(len(filters.agent_names))]
        found["agent_names"] = _has(
            agents, agents.c.cdr_id == CALL.c.id, agents.c.agent_name.in_(names)
        )
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


def of_number(filters: Filters) -> list[Condition]:
    """Ask for a number of a call, in any part or as one that was called."""
    name = "dialed_number" if filters.dialed_number else "number"
    found: list[Condition] = [
        of_account(numbers),
        numbers.c.number == asked(numbers.c.number, name),
    ]
    if filters.dialed_number:
        found.append(numbers.c.is_dialed == sa.true())
    return found


def _marks(name: str) -> sa.BindParameter[int]:
    return asked(cdrs.c.marks, name)


def _has(table: sa.Table, *conditions: Condition) -> Condition:
    """Ask for a row beside a call, for each call alone: EXISTS may be made of all there are."""
    its = sa.select(table.c.cdr_id).where(*conditions).limit(1)
    return its.correlate(CALL).scalar_subquery().is_not(None)
