"""Filters as SQL: pages of calls, how many there are, and which way to them is short.

A page is read off an index from its beginning, until it is full; what is counted has a limit.
Making a statement costs more than running it, so each is made once for a form of filters; what is
asked for comes as parameters.
"""

import operator
from functools import lru_cache, reduce
from typing import Any

import sqlalchemy as sa

from api.cdrs.query.access_paths import MAX_CACHED_SHAPES, AccessPath, access_paths
from api.cdrs.query.filters import Filters
from api.cdrs.tables import bodies, cdrs

Position = tuple[int, int]  # in a list: when a call began, and its id
FETCH_COST = 10  # so much dearer is a row that is looked at than one that is only looked up
UNSELECTIVE = {"call", "is_answered"}  # never the shortest: half of all calls have these
_SHOWN = (
    cdrs.c.id,
    cdrs.c.req_id,
    cdrs.c.started_ms,
    cdrs.c.disposition1,
    cdrs.c.disposition2,
    cdrs.c.disposition3,
    bodies.c.record,
)


@lru_cache(MAX_CACHED_SHAPES)
def candidate_paths(form: Filters) -> tuple[str, ...]:
    """Name the ways to calls that may be the shortest, those first that are as a rule."""
    names = list(access_paths(form))
    if "req_id" in names:
        return ("req_id",)
    return tuple(name for name in names if name not in UNSELECTIVE) or (names[0],)


@lru_cache(MAX_CACHED_SHAPES)
def measure_query(form: Filters, most: int) -> sa.Select[Any]:
    """Count what each way would have to look at, up to a limit; a column a way, in their order."""
    found = access_paths(form)
    lengths: list[Any] = [_length(found[name], most).label(name) for name in candidate_paths(form)]
    return sa.select(*lengths)


@lru_cache(MAX_CACHED_SHAPES)
def page_query(form: Filters, way: str, *, is_after: bool) -> sa.Select[Any]:
    """Select the rows of a page, newest first.

    Parameters are the filters' values, `limit`, `offset`, `most` (both together), and where it is
    after a place, `after_ms` and `after_id`.
    """
    found = _page(access_paths(form)[way], is_after=is_after).subquery()
    return (
        sa.select(*_SHOWN)
        .join_from(found, cdrs, cdrs.c.id == found.c.id)
        .join(bodies, bodies.c.cdr_id == cdrs.c.id)
        .order_by(found.c.started_ms.desc(), found.c.id.desc())
    )


@lru_cache(MAX_CACHED_SHAPES)
def count_query(form: Filters, way: str, most: int) -> tuple[sa.Select[Any], int]:
    """Count the wanted among the first that are looked up, `most` in all lookups together.

    Selects how many are wanted, and how many each lookup found, of at most as many as returned.
    """
    looked = access_paths(form)[way]
    share = max(1, (most if looked[0].is_exact else most // FETCH_COST) // len(looked))
    parts = [lookup.matches(share).subquery() for lookup in looked]
    return _alone(*parts) if len(parts) == 1 else _together(parts), share


def _length(way: AccessPath, most: int) -> sa.ColumnElement[int]:
    found = (lookup.entries().limit(most // len(way)).subquery() for lookup in way)
    counts = (sa.select(sa.func.count()).select_from(each).scalar_subquery() for each in found)
    return reduce(operator.add, counts)


def _page(way: AccessPath, *, is_after: bool) -> sa.Select[Any]:
    parts = [lookup.page(is_after=is_after) for lookup in way]
    if len(parts) == 1:
        return _cut(parts[0])
    most = _number("most")
    merged = sa.union(*(sa.select(part.limit(most).subquery()) for part in parts)).subquery()
    chosen = sa.select(merged.c.started_ms, merged.c.id)
    return _cut(chosen.order_by(merged.c.started_ms.desc(), merged.c.id.desc()))


def _cut(chosen: sa.Select[Any]) -> sa.Select[Any]:
    return chosen.limit(_number("limit")).offset(_number("offset"))


def _number(name: str) -> sa.BindParameter[int]:
    return sa.bindparam(name, type_=sa.Integer)


def _alone(found: sa.Subquery) -> sa.Select[Any]:
    wanted = sa.func.count(sa.case((found.c.fits == 1, 1)))
    columns: list[Any] = [wanted, sa.func.count()]
    return sa.select(*columns).select_from(found)


def _together(parts: list[sa.Subquery]) -> sa.Select[Any]:
    """Count what several lookups found; a call that more than one has found counts once."""
    marked = (
        sa.select(sa.literal(place).label("part"), part.c.id, part.c.fits)
        for place, part in enumerate(parts)
    )
    found = sa.union_all(*marked).subquery()
    wanted = sa.func.count(sa.distinct(sa.case((found.c.fits == 1, found.c.id))))
    seen = (sa.func.count(sa.case((found.c.part == place, 1))) for place, _part in enumerate(parts))
    columns: list[Any] = [wanted, *seen]
    return sa.select(*columns).select_from(found)
