"""The ways to calls that fit: each looks up by one filter, in the order of the list.

The other filters are looked at. Which way is the shortest, the values decide.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.query.conditions import (
    Condition,
    IndexEntry,
    account_condition,
    number_conditions,
    parameter,
    recording_conditions,
    remaining_conditions,
    time_conditions,
)
from api.cdrs.query.filters import Filters, agent_parameter
from api.cdrs.tables import agents, cdrs, numbers

COST = {"number": 10, "agent_names": 3}  # a row is read for each entry, for every third or so
MAX_CACHED_SHAPES = 1_000  # of filters; what is made for them is kept
# What a way looks up, that first which leads to the fewest calls as a rule.
PATH_ORDER = (
    "req_id",
    "client_id",
    "number",
    "missed",  # and recorded all the same
    "disposition3",
    "to_number",
    "agent_names",
    "voicemail",
    "disposition2",
    "disposition1",
    "obd_type",
    "call_path",
    "caller_id",
    "call",
    "is_answered",
)


class IndexScan(Struct, frozen=True):
    """What is looked up by in which table; the filters that are not `taken` are asked besides."""

    table: sa.Table
    cdr_id: sa.Column[int]
    conditions: tuple[Condition, ...]
    filters: Filters
    answered: frozenset[str]

    @property
    def is_exact(self) -> bool:
        """Whether all that are looked up are wanted."""
        return self.filters.names <= self.answered

    @property
    def cost(self) -> int:
        """How much dearer than a short one an entry is, of which marks tell little or nothing."""
        others = self.filters.names - self.answered
        return max((COST[each] for each in others if each in COST), default=1)

    def entries(self) -> sa.Select[Any]:
        """Select what is looked up, newest first."""
        started_ms = self.table.c.started_ms
        chosen = sa.select(started_ms.label("started_ms"), self.cdr_id.label("id"))
        if self.table is agents:  # two of a call may have one name
            chosen = chosen.distinct()
        return chosen.where(*self.conditions).order_by(started_ms.desc(), self.cdr_id.desc())

    def page(self, *, is_after: bool) -> sa.Select[Any]:
        """Select what is wanted, after a place or from the beginning."""
        chosen = self.entries().where(*self._remaining(self._entry))
        if is_after:
            here = (self.table.c.started_ms, self.cdr_id)
            place = (parameter(here[0], "after_ms"), parameter(here[1], "after_id"))
            chosen = chosen.where(sa.tuple_(*here) < sa.tuple_(*place))
        return chosen

    def matches(self, most: int) -> sa.Select[Any]:
        """Select the first that are looked up, and whether each is wanted."""
        one, marks = sa.literal_column("1", sa.Integer), self.table.c.marks
        if self.is_exact:
            return self.entries().add_columns(one.label("fits")).limit(most)
        # In the index' whole order: PostgreSQL sorts what is to be distinct in any other.
        found = self.entries().add_columns(marks).order_by(marks.desc()).limit(most).subquery()
        conditions = sa.and_(
            *self._remaining(IndexEntry(found.c.started_ms, found.c.id, found.c.marks))
        )
        return sa.select(found.c.id, sa.case((conditions, one), else_=0).label("fits"))

    @property
    def _entry(self) -> IndexEntry:
        return IndexEntry(self.table.c.started_ms, self.cdr_id, self.table.c.marks)

    def _remaining(self, entry: IndexEntry) -> list[Condition]:
        return remaining_conditions(self.filters, self.answered, entry)


AccessPath = tuple[IndexScan, ...]  # several are merged


@lru_cache(MAX_CACHED_SHAPES)
def access_paths(filters: Filters) -> Mapping[str, AccessPath]:
    """Give the ways to calls by what they look up; those first that lead to few as a rule."""
    found: dict[str, AccessPath] = {
        each: (_by(filters, _column(each), each),) for each in filters.columns
    }
    if filters.dialed_number or filters.number:
        found["number"] = (_by_number(filters),)
    if filters.agent_names:
        found["agent_names"] = tuple(_by_agents(filters))
    if filters.purpose and filters.is_answered is False:
        conditions = recording_conditions(filters)
        found["missed"] = (_by(filters, conditions, "purpose", "is_answered"),)
    elif filters.purpose:
        found[filters.purpose] = (_by(filters, recording_conditions(filters), "purpose"),)
    if filters.is_answered is not None and "missed" not in found:
        is_answered = [cdrs.c.is_answered == filters.is_answered]
        found["is_answered"] = (_by(filters, is_answered, "is_answered"),)
    return {name: found[name] for name in PATH_ORDER if name in found} or {"": (_by(filters, []),)}


def _column(name: str) -> list[Condition]:
    return [cdrs.c[name] == parameter(cdrs.c[name])]


def _by(filters: Filters, conditions: list[Condition], *taken: str) -> IndexScan:
    times = time_conditions(filters, cdrs.c.started_ms, cdrs.c.id)
    by = (account_condition(cdrs), *conditions, *times)
    return IndexScan(cdrs, cdrs.c.id, by, filters, frozenset(taken))


def _by_number(filters: Filters) -> IndexScan:
    times = time_conditions(filters, numbers.c.started_ms, numbers.c.cdr_id)
    by = (*number_conditions(filters), *times)
    return IndexScan(numbers, numbers.c.cdr_id, by, filters, frozenset({"number"}))


def _by_agents(filters: Filters) -> Iterator[IndexScan]:
    times = time_conditions(filters, agents.c.started_ms, agents.c.cdr_id)
    for place in range(len(filters.agent_names)):
        name = parameter(agents.c.agent_name, agent_parameter(place))
        by = (account_condition(agents), agents.c.agent_name == name, *times)
        yield IndexScan(agents, agents.c.cdr_id, by, filters, frozenset({"agent_names"}))
