"""Filters as SQL: pages of calls, their count, and the measured length of access paths.

A page is read from an index until it is full; counting has a limit. Building a statement costs more
than running it, so each is built once for a shape of filters, and the values are parameters.
"""

import operator
from functools import lru_cache, reduce
from typing import Any

import sqlalchemy as sa

from api.cdrs.query.access_paths import MAX_CACHED_SHAPES, AccessPath, access_paths
from api.cdrs.query.filters import Filters
from api.cdrs.tables import bodies, cdrs
from api.db.page_bytes import fits_page, sized_page

Position = tuple[int, int]  # in a list: start time and id of a call
FETCH_COST = 10  # of an entry whose row is read, in entries that are only scanned
UNSELECTIVE = {"call", "is_answered"}  # never the cheapest: half of all calls match
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
def candidate_paths(shape: Filters) -> tuple[str, ...]:
    """Return the names of the access paths that may be the cheapest, the usual one first."""
    names = list(access_paths(shape))
    if "req_id" in names:
        return ("req_id",)
    return tuple(name for name in names if name not in UNSELECTIVE) or (names[0],)


@lru_cache(MAX_CACHED_SHAPES)
def measure_query(shape: Filters, limit: int) -> sa.Select[Any]:
    """Measure the length of each candidate path, up to a limit; one column per path."""
    paths = access_paths(shape)
    lengths: list[Any] = [
        _length(paths[name], limit).label(name) for name in candidate_paths(shape)
    ]
    return sa.select(*lengths)


@lru_cache(MAX_CACHED_SHAPES)
def page_query(shape: Filters, path: str, *, is_after: bool) -> sa.Select[Any]:
    """Select the rows of a page, newest first.

    Parameters are the filters' values, `limit`, `offset`, `window_end` (their sum), and with
    `is_after`, `after_ms` and `after_id`. A page ends after some megabytes; the last column is how
    many rows it would have.
    """
    page = _page(access_paths(shape)[path], is_after=is_after).subquery()
    entries = sized_page(
        page,
        page.join(bodies, bodies.c.cdr_id == page.c.id),
        sa.func.length(bodies.c.record),
        lambda sized: [sized.c.started_ms.desc(), sized.c.id.desc()],
    )
    return (
        sa.select(*_SHOWN, entries.c.page_rows)
        .join_from(entries, cdrs, cdrs.c.id == entries.c.id)
        .join(bodies, bodies.c.cdr_id == cdrs.c.id)
        .where(fits_page(entries))
        .order_by(entries.c.started_ms.desc(), entries.c.id.desc())
    )


@lru_cache(MAX_CACHED_SHAPES)
def count_query(shape: Filters, path: str, limit: int) -> tuple[sa.Select[Any], int]:
    """Count the matches among the first entries, `limit` in all scans together.

    Selects the number of matches, and how many entries each scan found. Also returns the share of
    the limit that each scan has.
    """
    scans = access_paths(shape)[path]
    share = max(1, (limit if scans[0].is_exact else limit // FETCH_COST) // len(scans))
    parts = [scan.matches(share).subquery() for scan in scans]
    return _count_one(*parts) if len(parts) == 1 else _count_merged(parts), share


def _length(path: AccessPath, limit: int) -> sa.ColumnElement[int]:
    found = (scan.entries().limit(limit // len(path)).subquery() for scan in path)
    counts = (sa.select(sa.func.count()).select_from(each).scalar_subquery() for each in found)
    return reduce(operator.add, counts)


def _page(path: AccessPath, *, is_after: bool) -> sa.Select[Any]:
    parts = [scan.page(is_after=is_after) for scan in path]
    if len(parts) == 1:
        return _window(parts[0])
    end = _integer("window_end")
    merged = sa.union(*(sa.select(part.limit(end).subquery()) for part in parts)).subquery()
    rows = sa.select(merged.c.started_ms, merged.c.id)
    return _window(rows.order_by(merged.c.started_ms.desc(), merged.c.id.desc()))


def _window(query: sa.Select[Any]) -> sa.Select[Any]:
    return query.limit(_integer("limit")).offset(_integer("offset"))


def _integer(name: str) -> sa.BindParameter[int]:
    return sa.bindparam(name, type_=sa.Integer)


def _count_one(found: sa.Subquery) -> sa.Select[Any]:
    matches = sa.func.count(sa.case((found.c.fits == 1, 1)))
    columns: list[Any] = [matches, sa.func.count()]
    return sa.select(*columns).select_from(found)


def _count_merged(parts: list[sa.Subquery]) -> sa.Select[Any]:
    """Count the matches of several scans; a call that more than one has found counts once."""
    numbered = (
        sa.select(sa.literal(index).label("part"), part.c.id, part.c.fits)
        for index, part in enumerate(parts)
    )
    found = sa.union_all(*numbered).subquery()
    matches = sa.func.count(sa.distinct(sa.case((found.c.fits == 1, found.c.id))))
    scanned = (
        sa.func.count(sa.case((found.c.part == index, 1))) for index, _part in enumerate(parts)
    )
    columns: list[Any] = [matches, *scanned]
    return sa.select(*columns).select_from(found)
