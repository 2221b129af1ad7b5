"""The access paths of a list of calls: each scans one index by one filter, newest call first.

The other filters are checked for each entry. Which path is cheapest depends on the values.
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

COST = {
    "number": 10,
    "agent_names": 3,
    "agent_id": 10,
}  # of reading a row for each entry, for about every third
MAX_CACHED_SHAPES = 1_000  # statements are built once for each shape of filters
# What a path is named after; first those that usually match the fewest calls.
PATH_ORDER = (
    "req_id",
    "client_id",
    "number",
    "agent_id",
    "missed",  # and recorded nevertheless
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
    """A scan of an index. Its conditions answer some filters; the others are checked."""

    table: sa.Table
    cdr_id: sa.Column[int]
    conditions: tuple[Condition, ...]
    filters: Filters
    answered: frozenset[str]

    @property
    def is_exact(self) -> bool:
        """Whether every entry matches: no filter remains."""
        return self.filters.names <= self.answered

    @property
    def cost(self) -> int:
        """The cost of checking an entry: high for filters that its signature says little about."""
        remaining = self.filters.names - self.answered
        return max((COST[each] for each in remaining if each in COST), default=1)

    def entries(self) -> sa.Select[Any]:
        """Select the entries, newest first."""
        started_ms = self.table.c.started_ms
        query = sa.select(started_ms.label("started_ms"), self.cdr_id.label("id"))
        if self.table is agents:  # two agents of a call may have the same name
            query = query.distinct()
        return query.where(*self.conditions).order_by(started_ms.desc(), self.cdr_id.desc())

    def page(self, *, is_after: bool) -> sa.Select[Any]:
        """Select the entries that match, from the beginning or after a position."""
        query = self.entries().where(*self._remaining(self._entry))
        if is_after:
            here = (self.table.c.started_ms, self.cdr_id)
            position = (parameter(here[0], "after_ms"), parameter(here[1], "after_id"))
            query = query.where(sa.tuple_(*here) < sa.tuple_(*position))
        return query

    def matches(self, limit: int) -> sa.Select[Any]:
        """Select the first entries, and whether each matches."""
        one, marks = sa.literal_column("1", sa.Integer), self.table.c.marks
        if self.is_exact:
            return self.entries().add_columns(one.label("fits")).limit(limit)
        # In the index's full order: PostgreSQL would sort for DISTINCT in any other.
        found = self.entries().add_columns(marks).order_by(marks.desc()).limit(limit).subquery()
        conditions = sa.and_(
            *self._remaining(IndexEntry(found.c.started_ms, found.c.id, found.c.marks))
        )
        return sa.select(found.c.id, sa.case((conditions, one), else_=0).label("fits"))

    @property
    def _entry(self) -> IndexEntry:
        return IndexEntry(self.table.c.started_ms, self.cdr_id, self.table.c.marks)

    def _remaining(self, entry: IndexEntry) -> list[Condition]:
        return remaining_conditions(self.filters, self.answered, entry)


AccessPath = tuple[IndexScan, ...]  # several scans are merged


@lru_cache(MAX_CACHED_SHAPES)
def access_paths(filters: Filters) -> Mapping[str, AccessPath]:
    """Return the access paths by name; first those that usually match few calls."""
    paths: dict[str, AccessPath] = {
        each: (_call_scan(filters, _equals(each), each),) for each in filters.columns
    }
    if filters.dialed_number or filters.number:
        paths["number"] = (_number_scan(filters),)
    if filters.agent_names:
        paths["agent_names"] = tuple(_agent_scans(filters))
    if filters.agent_id:
        paths["agent_id"] = (_agent_id_scan(filters),)
    if filters.purpose and filters.is_answered is False:
        conditions = recording_conditions(filters)
        paths["missed"] = (_call_scan(filters, conditions, "purpose", "is_answered"),)
    elif filters.purpose:
        paths[filters.purpose] = (_call_scan(filters, recording_conditions(filters), "purpose"),)
    if filters.is_answered is not None and "missed" not in paths:
        is_answered = [cdrs.c.is_answered == filters.is_answered]
        paths["is_answered"] = (_call_scan(filters, is_answered, "is_answered"),)
    return {name: paths[name] for name in PATH_ORDER if name in paths} or {
        "": (_call_scan(filters, []),)
    }


def _equals(name: str) -> list[Condition]:
    return [cdrs.c[name] == parameter(cdrs.c[name])]


def _call_scan(filters: Filters, conditions: list[Condition], *answered: str) -> IndexScan:
    times = time_conditions(filters, cdrs.c.started_ms, cdrs.c.id)
    by = (account_condition(cdrs), *conditions, *times)
    return IndexScan(cdrs, cdrs.c.id, by, filters, frozenset(answered))


def _number_scan(filters: Filters) -> IndexScan:
    times = time_conditions(filters, numbers.c.started_ms, numbers.c.cdr_id)
    by = (*number_conditions(filters), *times)
    return IndexScan(numbers, numbers.c.cdr_id, by, filters, frozenset({"number"}))


def _agent_id_scan(filters: Filters) -> IndexScan:
    times = time_conditions(filters, agents.c.started_ms, agents.c.cdr_id)
    is_agent = agents.c.agent_id == parameter(agents.c.agent_id)
    by = (account_condition(agents), is_agent, *times)
    return IndexScan(agents, agents.c.cdr_id, by, filters, frozenset({"agent_id"}))


def _agent_scans(filters: Filters) -> Iterator[IndexScan]:
    times = time_conditions(filters, agents.c.started_ms, agents.c.cdr_id)
    for index in range(len(filters.agent_names)):
        name = parameter(agents.c.agent_name, agent_parameter(index))
        by = (account_condition(agents), agents.c.agent_name == name, *times)
        yield IndexScan(agents, agents.c.cdr_id, by, filters, frozenset({"agent_names"}))
