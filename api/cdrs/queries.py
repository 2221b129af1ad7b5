"""Filters as SQL: one is looked up by, in the order of the list; the others are looked at.

A page is read off an index from its beginning, until it is full; what is counted has a limit.
"""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.conditions import Condition, in_time, looked_at, of_number, with_purpose
from api.cdrs.filters import Filters
from api.cdrs.tables import agents, cdrs, numbers

Place = tuple[int, int]  # in a list: when a call began, and its id
LOOKED_AT = 4  # so much dearer is a row that is looked at than one that is only looked up
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

    def first(self, limit: int, after: Place | None) -> sa.Select[Any]:
        """Select the first that are wanted, after a place."""
        chosen = self.places().limit(limit).where(*self.beside)
        if after is not None:
            here = sa.tuple_(self.table.c.started_ms, self.cdr_id)
            chosen = chosen.where(here < sa.tuple_(*after))
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


def page(
    filters: Filters, limit: int, offset: int = 0, after: Place | None = None
) -> sa.Select[Any]:
    """Select time and id of the calls of a page, newest first."""
    parts = [lookup.first(offset + limit, after) for lookup in lookups(filters)]
    if len(parts) == 1:
        return parts[0].limit(limit).offset(offset)
    merged = sa.union(*(sa.select(part.subquery()) for part in parts)).subquery()
    chosen = sa.select(merged.c.started_ms, merged.c.id).limit(limit).offset(offset)
    return chosen.order_by(merged.c.started_ms.desc(), merged.c.id.desc())


def counted(filters: Filters, most: int) -> tuple[sa.Select[Any], int]:
    """Count the wanted among the first that are looked up, `most` in all lookups together.

    Selects how many are wanted, and how many each lookup found, of at most as many as returned.
    """
    looked = lookups(filters)
    share = max(1, (most // LOOKED_AT if looked[0].beside else most) // len(looked))
    parts = [lookup.fitting(share).subquery() for lookup in looked]
    marked = (
        sa.select(sa.literal(place).label("part"), part.c.id, part.c.fits)
        for place, part in enumerate(parts)
    )
    found = sa.union_all(*marked).subquery()
    wanted = sa.func.count(sa.distinct(sa.case((found.c.fits == 1, found.c.id))))
    seen = (sa.func.count(sa.case((found.c.part == place, 1))) for place, _part in enumerate(parts))
    columns: list[Any] = [wanted, *seen]
    return sa.select(*columns).select_from(found), share


def lookups(filters: Filters) -> list[Lookup]:
    """Choose what is looked up by: what few calls share. Several agents are looked up each."""
    names = filters.columns().keys()
    if (filters.dialed_number or filters.number) and not names & RARE:
        by = (*of_number(filters), *in_time(filters, numbers.c.started_ms, numbers.c.cdr_id))
        return [Lookup(numbers, numbers.c.cdr_id, by, _but(filters, "number"))]
    is_odd = filters.purpose and filters.is_answered is False
    if filters.agent_names and not is_odd and not names & RARER_THAN_AGENTS:
        return list(_by_agents(filters))
    return [_by_column(filters)]


def _by_agents(filters: Filters) -> Iterator[Lookup]:
    times = in_time(filters, agents.c.started_ms, agents.c.cdr_id)
    its_own = agents.c.account_id == filters.account_id
    for name in filters.agent_names:
        by = (its_own, agents.c.agent_name == name, *times)
        yield Lookup(agents, agents.c.cdr_id, by, _but(filters, "agent_names"))


def _by_column(filters: Filters) -> Lookup:
    columns = filters.columns()
    chosen = next(iter(columns), "")
    times = in_time(filters, cdrs.c.started_ms, cdrs.c.id)
    by = [cdrs.c.account_id == filters.account_id, *times]
    if filters.purpose and _is_rarer(filters, chosen):
        return Lookup(cdrs, cdrs.c.id, (*by, *with_purpose(filters)), _but(filters, "purpose"))
    if chosen:
        by.append(cdrs.c[chosen] == columns[chosen])
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
