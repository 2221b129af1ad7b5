"""Builds the SQL for pages of contacts and their counts.

A page is read until it is full; counts have a limit (docs/decisions/0018 has the reason, for call
records).
"""

from typing import Any

import sqlalchemy as sa

from api.contacts.contacts.access_paths import index_scans, unfiltered_scans
from api.contacts.contacts.filters import Filters

FETCH_COST = 10  # cost of reading a row, relative to an index entry


def page(filters: Filters, limit: int, offset: int) -> sa.Select[Any]:
    """Select the ids of a page, as `id`, in the order of `o0`, `o1` and so on."""
    scans = index_scans(filters)
    if len(scans) == 1:
        return scans[0].page(limit).offset(offset)
    merged = sa.union(*(sa.select(each.page(offset + limit).subquery()) for each in scans))
    query = sa.select(merged.subquery())
    return query.order_by(*order_columns(query.selected_columns)).limit(limit).offset(offset)


def order_columns(columns: Any) -> list[Any]:
    """Return the columns that a page is ordered by."""
    return [each for each in columns if each.key != "id"]


def sizes(filters: Filters, limit: int) -> sa.Select[Any]:
    """Count the matches of each kind of filter alone, up to a limit."""
    counts = []
    for kind in filters.kinds:
        parts = [each.sample(limit).subquery() for each in unfiltered_scans(kind, filters)]
        every = [sa.select(sa.func.count()).select_from(part).scalar_subquery() for part in parts]
        counts.append(sum(every[1:], every[0]))
    return sa.select(*counts)


def count_matches(filters: Filters, limit: int) -> tuple[sa.Select[Any], int]:
    """Count the matches among the first rows of all scans, `limit` rows together.

    Returns the query for the number of matches and of rows of each scan, and the limit per scan.
    """
    scans = index_scans(filters)
    is_cheap = all(each.is_covered or not each.filtered for each in scans)
    share = max(1, (limit if is_cheap else limit // FETCH_COST) // len(scans))
    if len(scans) == 1:  # no contact occurs twice
        rows = scans[0].matches(share).subquery()
        matching = sa.func.coalesce(sa.func.sum(rows.c.fits), 0)
        return sa.select(matching, sa.func.count()).select_from(rows), share
    parts = []
    for index, each in enumerate(scans):
        part = each.matches(share).subquery()
        parts.append(sa.select(sa.literal(index).label("part"), part.c.id, part.c.fits))
    every = sa.union_all(*parts).subquery()
    matches = sa.func.count(sa.distinct(sa.case((every.c.fits == 1, every.c.id))))
    read = [sa.func.count(sa.case((every.c.part == index, 1))) for index in range(len(scans))]
    columns: list[Any] = [matches, *read]
    return sa.select(*columns).select_from(every), share
