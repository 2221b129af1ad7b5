"""Reads pages of contacts, and counts the matches up to a limit."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.contacts.filters import Filters, index_scans, unfiltered_scans
from api.contacts.contacts.store import COLUMNS, Contact, shown_size, with_tags
from api.contacts.list_store import visible_lists
from api.contacts.tables import contacts, lists
from api.db.database import Database
from api.db.page_bytes import fits_page, sized_page

FETCH_COST = 10  # cost of reading a row, relative to an index entry


class Limits(Struct, frozen=True):
    """Limits of the search plan, in contacts.

    A list of at most `small` contacts is read whole; so is one of at most `medium`, unless a filter
    has few matches. Fewer than `few` matches are looked up by id, so that no row is read for them.
    """

    small: int = 5_000
    medium: int = 20_000
    few: int = 10_000
    counted: int = 10_000


DEFAULT_LIMITS = Limits()


class ContactMatches(Struct, frozen=True):
    """A page of contacts; `total` is a lower bound if it is not exact."""

    contacts: Sequence[Contact]
    total: int
    total_is_exact: bool


class Pages(Struct, frozen=True):
    database: Database
    limits: Limits = DEFAULT_LIMITS

    async def read(self, filters: Filters, limit: int, offset: int) -> ContactMatches:
        """Return a page, and the number of matches up to a limit."""
        async with self.database.reading() as connection:
            count, plan = await self._plan(connection, filters)
            rows, has_more = await _page(connection, plan, limit, offset)
            shown = await with_tags(connection, rows)
            if filters.is_any:
                return ContactMatches(shown, count, total_is_exact=True)
            seen = offset + len(rows) + has_more
            if not has_more and (rows or not offset):
                return ContactMatches(shown, seen, total_is_exact=True)
            total, is_exact = await _count(connection, plan, self.limits.counted)
            return ContactMatches(shown, max(total, seen if rows else 0), is_exact)

    async def _plan(self, connection: AsyncConnection, filters: Filters) -> tuple[int, Filters]:
        """Return the number of contacts without filters, and the filters with the search plan."""
        count, deleted = await _stored_counts(connection, filters)
        plan, limits = replace(filters, deleted_lists=deleted), self.limits
        in_list = count if filters.list_id is not None else None
        if in_list is not None and in_list <= limits.small:
            return count, replace(plan, is_small=not filters.is_any)
        is_medium = in_list is not None and in_list <= limits.medium
        if filters.contact_id is not None or len(filters.kinds) < (1 if is_medium else 2):
            return count, plan
        found = (await connection.execute(sizes(plan, limits.few))).one()
        size = dict(zip(plan.kinds, found, strict=True))
        few = tuple(kind for kind in plan.kinds if size[kind] < limits.few)
        by = min(plan.kinds, key=size.__getitem__)
        return count, replace(plan, is_small=is_medium and not few, by=by, few=few)


async def _stored_counts(
    connection: AsyncConnection, filters: Filters
) -> tuple[int, tuple[int, ...]]:
    """Return the sum of the lists' contact counts, and the deleted lists."""
    visible = visible_lists(filters.account_id)
    if filters.list_id is not None:
        visible = sa.and_(visible, lists.c.id == filters.list_id)
    total = sa.select(sa.func.coalesce(sa.func.sum(lists.c.contacts), 0)).where(visible)
    deleted = sa.and_(lists.c.account_id == filters.account_id, lists.c.is_deleted)
    deleted_ids = sa.select(lists.c.id).where(deleted)
    both = sa.select(total.scalar_subquery(), deleted_ids.exists())
    count, has_deleted = (await connection.execute(both)).one()
    if filters.list_id is not None or not has_deleted:
        return int(count), ()
    return int(count), tuple((await connection.execute(deleted_ids)).scalars())


async def _page(
    connection: AsyncConnection, filters: Filters, limit: int, offset: int
) -> tuple[list[Contact], bool]:
    """Return the contacts of a page, and whether there are more; it ends after some megabytes."""
    found = page(filters, limit + 1, offset).subquery()
    keys = [each.key for each in order_columns(found.c)]
    rows = found.join(contacts, contacts.c.id == found.c.id)
    sized = sized_page(found, rows, shown_size(), lambda sized: [sized.c[key] for key in keys])
    query = (
        sa.select(*COLUMNS, sized.c.page_rows)
        .join_from(sized, contacts, contacts.c.id == sized.c.id)
        .where(fits_page(sized))
        .order_by(*(sized.c[key] for key in keys))
    )
    read = (await connection.execute(query)).all()
    shown = [Contact(*row) for *row, _page_rows in read[:limit]]
    return shown, bool(read) and read[0].page_rows > len(shown)


async def _count(connection: AsyncConnection, filters: Filters, limit: int) -> tuple[int, bool]:
    query, share = count_matches(filters, limit)
    matches, *read = (await connection.execute(query)).one()
    return int(matches), max(read) < share


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
