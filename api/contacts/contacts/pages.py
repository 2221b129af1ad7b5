"""Reads pages of contacts, and counts the matches up to a limit."""

from collections.abc import Sequence

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.contacts.contact import COLUMNS, Contact, shown_size, with_tags
from api.contacts.contacts.filters import Filters
from api.contacts.contacts.queries import count_matches, order_columns, page, sizes
from api.contacts.list_store import visible_lists
from api.contacts.tables import contacts, lists
from api.db.database import Database
from api.db.page_bytes import fits_page, sized_page


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
    order = order_columns(found.c)
    rows = found.join(contacts, contacts.c.id == found.c.id)
    sized = sized_page(found, rows, shown_size(), order)
    query = (
        sa.select(*COLUMNS, sized.c.page_rows)
        .join_from(sized, contacts, contacts.c.id == sized.c.id)
        .where(fits_page(sized))
        .order_by(*(sized.c[each.key] for each in order))
    )
    read = (await connection.execute(query)).all()
    shown = [Contact(*row) for *row, _page_rows in read[:limit]]
    return shown, bool(read) and read[0].page_rows > len(shown)


async def _count(connection: AsyncConnection, filters: Filters, limit: int) -> tuple[int, bool]:
    query, share = count_matches(filters, limit)
    matches, *read = (await connection.execute(query)).one()
    return int(matches), max(read) < share
