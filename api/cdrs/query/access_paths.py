"""The access paths of a list of calls: each scans one index by one filter, newest call first.

The other filters are checked for each entry. Which path is cheapest depends on the values.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.query.filters import PURPOSES, Filters, agent_parameter
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
Condition = sa.ColumnElement[bool]
# Rows that are checked for an index entry.
CALL, CALL_AGENTS, CALL_NUMBERS = (
    cdrs.alias("call"),
    agents.alias("its_agents"),
    numbers.alias("its_numbers"),
)


class IndexEntry(Struct, frozen=True):
    """The columns of an index entry."""

    started_ms: sa.ColumnElement[int]
    cdr_id: sa.ColumnElement[int]
    marks: sa.ColumnElement[int]


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


def parameter(column: sa.Column[Any], name: str = "") -> sa.BindParameter[Any]:
    """Return the parameter that a column is compared with, named after the column by default."""
    return sa.bindparam(name or column.name, type_=column.type)


def account_condition(table: sa.FromClause) -> Condition:
    """Match the rows of the account."""
    return table.c.account_id == parameter(cdrs.c.account_id)


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
