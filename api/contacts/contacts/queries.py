"""Pages of contacts, and how many there are, as SQL.

A page is read until it is full; what is counted has a limit (docs/decisions/0018, which is about
call records, says why).
"""

from typing import Any

import sqlalchemy as sa

from api.contacts.contacts.access_paths import index_scans, unfiltered_scans
from api.contacts.contacts.filters import Filters

FETCH_COST = 10  # so much dearer is a row that is looked at than one that is only looked up


def page(filters: Filters, limit: int, offset: int) -> sa.Select[Any]:
    """Select the ids of a page, as `id`, in the order of `o0`, `o1` and so on."""
    found = index_scans(filters)
    if len(found) == 1:
        return found[0].page(limit).offset(offset)
    merged = sa.union(*(sa.select(each.page(offset + limit).subquery()) for each in found))
    chosen = sa.select(merged.subquery())
    return chosen.order_by(*ordered(chosen.selected_columns)).limit(limit).offset(offset)


def ordered(columns: Any) -> list[Any]:
    """Give the columns that a page is ordered by."""
    return [each for each in columns if each.key != "id"]


def sizes(filters: Filters, most: int) -> sa.Select[Any]:
    """Count what each kind of filter looks up by itself, up to a limit."""
    counts = []
    for kind in filters.kinds:
        parts = [each.sample(most).subquery() for each in unfiltered_scans(kind, filters)]
        every = [sa.select(sa.func.count()).select_from(part).scalar_subquery() for part in parts]
        counts.append(sum(every[1:], every[0]))
    return sa.select(*counts)


def counted(filters: Filters, most: int) -> tuple[sa.Select[Any], int]:
    """Count the wanted among the first that are looked up, `most` in all lookups together.

    Selects how many are wanted, and how many the fullest lookup found, of at most as many as told.
    """
    found = index_scans(filters)
    is_cheap = all(each.is_covered or not each.filtered for each in found)
    share = max(1, (most if is_cheap else most // FETCH_COST) // len(found))
    if len(found) == 1:  # none is found twice
        looked = found[0].matches(share).subquery()
        fitting = sa.func.coalesce(sa.func.sum(looked.c.fits), 0)
        return sa.select(fitting, sa.func.count()).select_from(looked), share
    marked = []
    for place, each in enumerate(found):
        part = each.matches(share).subquery()
        marked.append(sa.select(sa.literal(place).label("part"), part.c.id, part.c.fits))
    every = sa.union_all(*marked).subquery()
    wanted = sa.func.count(sa.distinct(sa.case((every.c.fits == 1, every.c.id))))
    seen = [sa.func.count(sa.case((every.c.part == place, 1))) for place in range(len(found))]
    columns: list[Any] = [wanted, *seen]
    return sa.select(*columns).select_from(every), share
