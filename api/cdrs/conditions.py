"""What each filter asks of a call, as SQL; values are parameters, named after the filters."""

from typing import Any

import sqlalchemy as sa

from api.beside import Beside
from api.cdrs.filters import Filters, agent
from api.cdrs.tables import agents, cdrs, numbers

Condition = sa.ColumnElement[bool]
_TRUTH = {True: sa.true(), False: sa.false()}
_PURPOSES = {"call": cdrs.c.has_recording, "voicemail": cdrs.c.has_voicemail}


def asked(column: sa.Column[Any], name: str = "") -> sa.BindParameter[Any]:
    """Give the parameter that a column is compared with; of the same name, unless it is said."""
    return sa.bindparam(name or column.name, type_=column.type)


def of_account(table: sa.Table) -> Condition:
    """Ask for the account's own."""
    return table.c.account_id == asked(table.c.account_id)


def looked_at(filters: Filters) -> dict[str, Condition]:
    """Give the condition of each filter but time's, none of which chooses an index."""
    found: dict[str, Condition] = {
        name: _beside(cdrs.c[name], asked(cdrs.c[name])) for name in filters.columns
    }
    if filters.is_answered is not None:
        found["is_answered"] = _beside(cdrs.c.is_answered, _TRUTH[filters.is_answered])
    if filters.purpose:
        found["purpose"] = _beside(_PURPOSES[filters.purpose], sa.true())
    if filters.dialed_number or filters.number:
        found["number"] = _with_number(filters)
    if filters.agent_names:
        names = [asked(agents.c.agent_name, agent(n)) for n in range(len(filters.agent_names))]
        its = (agents.c.cdr_id == cdrs.c.id, agents.c.agent_name.in_(names))
        found["agent_names"] = _has(agents, *its)
    return found


def with_purpose(filters: Filters) -> list[Condition]:
    """Ask for a recording of a purpose, and for missed calls, in the words of their indexes."""
    found: list[Condition] = [_PURPOSES[filters.purpose] == sa.true()]
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


def _beside(column: sa.Column[Any], value: Any) -> Condition:
    """Compare so that PostgreSQL takes no index for it either: of two it may take the longer.

    It supposes that filters have nothing to do with each other: that a tenth of the few missed
    calls with a recording are of this path, say, where there are none.
    """
    return Beside(column).is_not_distinct_from(value)


def _with_number(filters: Filters) -> Condition:
    same: tuple[Any, ...] = (
        numbers.c.started_ms == cdrs.c.started_ms,
        numbers.c.cdr_id == cdrs.c.id,
    )
    return _has(numbers, *of_number(filters), *same)


def _has(table: sa.Table, *conditions: Condition) -> Condition:
    """Ask for a row beside a call, for each call alone: EXISTS may be made of all there are."""
    its = sa.select(table.c.cdr_id).where(*conditions).limit(1)
    return its.correlate(cdrs).scalar_subquery().is_not(None)
