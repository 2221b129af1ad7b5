"""Which filter calls are looked up by, in the order of the list; the others are looked at."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.conditions import (
    Condition,
    asked,
    in_time,
    looked_at,
    of_account,
    of_number,
    with_purpose,
)
from api.cdrs.filters import Filters, agent
from api.cdrs.tables import agents, cdrs, numbers

RARE = frozenset({"req_id", "client_id"})
RARER_THAN_AGENTS = RARE | {"disposition3", "to_number"}


class Lookup(Struct, frozen=True):
    """What is looked up by in which table, and what else a call must have."""

    table: sa.Table
    cdr_id: sa.Column[int]
    by: tuple[Condition, ...]
    beside: tuple[Condition, ...] = ()

    def places(self) -> sa.Select[Any]:
        """Select what is looked up, newest first."""
        started_ms = self.table.c.started_ms
        chosen = sa.select(started_ms.label("started_ms"), self.cdr_id.label("id"))
        return chosen.where(*self.by).order_by(started_ms.desc(), self.cdr_id.desc())

    def first(self, *, is_after: bool) -> sa.Select[Any]:
        """Select what is wanted, after a place or from the beginning."""
        chosen = self.places().where(*self.beside)
        if is_after:
            here = (self.table.c.started_ms, self.cdr_id)
            place = (asked(here[0], "after_ms"), asked(here[1], "after_id"))
            chosen = chosen.where(sa.tuple_(*here) < sa.tuple_(*place))
        if self.beside and self.table is not cdrs:
            chosen = chosen.join(cdrs, cdrs.c.id == self.cdr_id)
        return chosen

    def fitting(self, most: int) -> sa.Select[Any]:
        """Select the first that are looked up, and whether each is wanted."""
        places = self.places().limit(most).subquery()
        if not self.beside:
            return sa.select(places.c.id, sa.literal(1).label("fits"))
        fits = sa.case((sa.and_(*self.beside), 1), else_=0).label("fits")
        return sa.select(places.c.id, fits).join(cdrs, cdrs.c.id == places.c.id)


def lookups(filters: Filters) -> list[Lookup]:
    """Choose what is looked up by: what few calls share. Several agents are looked up each."""
    names = set(filters.columns)
    if (filters.dialed_number or filters.number) and not names & RARE:
        by = (*of_number(filters), *in_time(filters, numbers.c.started_ms, numbers.c.cdr_id))
        return [Lookup(numbers, numbers.c.cdr_id, by, _but(filters, "number"))]
    is_odd = filters.purpose and filters.is_answered is False
    if filters.agent_names and not is_odd and not names & RARER_THAN_AGENTS:
        return list(_by_agents(filters))
    return [_by_column(filters)]


def _by_agents(filters: Filters) -> Iterator[Lookup]:
    times = in_time(filters, agents.c.started_ms, agents.c.cdr_id)
    for place, _name in enumerate(filters.agent_names):
        name = asked(agents.c.agent_name, agent(place))
        by = (of_account(agents), agents.c.agent_name == name, *times)
        yield Lookup(agents, agents.c.cdr_id, by, _but(filters, "agent_names"))


def _by_column(filters: Filters) -> Lookup:
    chosen = next(iter(filters.columns), "")
    times = in_time(filters, cdrs.c.started_ms, cdrs.c.id)
    by = [of_account(cdrs), *times]
    if filters.purpose and _is_rarer(filters, chosen):
        return Lookup(cdrs, cdrs.c.id, (*by, *with_purpose(filters)), _but(filters, "purpose"))
    if chosen:
        by.append(cdrs.c[chosen] == asked(cdrs.c[chosen]))
        return Lookup(cdrs, cdrs.c.id, tuple(by), _but(filters, chosen))
    if filters.is_answered is not None:
        by.append(cdrs.c.is_answered == filters.is_answered)
    return Lookup(cdrs, cdrs.c.id, tuple(by))


def _is_rarer(filters: Filters, than: str) -> bool:
    """Tell whether fewer calls have such a recording than a column's value."""
    if filters.is_answered is False:
        return than not in RARE
    return not than or (filters.purpose == "voicemail" and than not in RARER_THAN_AGENTS)


def _but(filters: Filters, taken: str) -> tuple[Condition, ...]:
    return tuple(each for name, each in looked_at(filters).items() if name != taken)
