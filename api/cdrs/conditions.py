"""What each filter asks of a call, as SQL."""

from typing import Any

import sqlalchemy as sa

from api.beside import Beside
from api.cdrs.filters import Filters
from api.cdrs.tables import agents, cdrs, numbers

Condition = sa.ColumnElement[bool]
_PURPOSES = {"call": cdrs.c.has_recording, "voicemail": cdrs.c.has_voicemail}


def looked_at(filters: Filters) -> dict[str, Condition]:
    """Give the condition of each filter but time's, none of which chooses an index."""
    found: dict[str, Condition] = {
        name: Beside(cdrs.c[name]) == value for name, value in filters.columns().items()
    }
    if filters.is_answered is not None:
        found["is_answered"] = Beside(cdrs.c.is_answered) == filters.is_answered
    if filters.purpose:
        found["purpose"] = Beside(_PURPOSES[filters.purpose]) == sa.true()
    if filters.dialed_number or filters.number:
        found["number"] = _with_number(filters)
    if filters.agent_names:
        its = sa.select(agents.c.cdr_id).where(agents.c.cdr_id == cdrs.c.id)
        found["agent_names"] = its.where(agents.c.agent_name.in_(filters.agent_names)).exists()
    return found


def with_purpose(filters: Filters) -> list[Condition]:
    """Ask for a recording of a purpose, and for missed calls, in the words of their indexes."""
    found: list[Condition] = [_PURPOSES[filters.purpose] == sa.true()]
    if filters.is_answered is False:
        found.append(cdrs.c.is_answered == sa.false())
    return found


def in_time(
    filters: Filters, started_ms: sa.ColumnElement[int], cdr_id: sa.ColumnElement[int]
) -> list[Condition]:
    """Ask for the time in which calls began, and for those that were there at some time."""
    found: list[Condition] = []
    if filters.start_ms is not None:
        found.append(started_ms >= filters.start_ms)
    if filters.end_ms is not None:
        found.append(started_ms < filters.end_ms)
    if filters.newest_id is not None:
        found.append(cdr_id <= filters.newest_id)
    return found


def of_number(filters: Filters) -> list[Condition]:
    """Ask for a number of a call, in any part or as one that was called."""
    found: list[Condition] = [
        numbers.c.account_id == filters.account_id,
        numbers.c.number == (filters.dialed_number or filters.number),
    ]
    if filters.dialed_number:
        found.append(numbers.c.is_dialed == sa.true())
    return found


def _with_number(filters: Filters) -> Condition:
    same: tuple[Any, ...] = (
        numbers.c.started_ms == cdrs.c.started_ms,
        numbers.c.cdr_id == cdrs.c.id,
    )
    return sa.select(numbers.c.cdr_id).where(*of_number(filters), *same).exists()
