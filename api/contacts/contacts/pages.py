"""Contacts looked for: a page of them, and how many there are as far as that is quickly done."""

from collections.abc import Sequence

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.contacts.contact import SHOWN, Contact, with_tags
from api.contacts.contacts.filters import Filters
from api.contacts.contacts.queries import counted, ordered, page, sizes
from api.contacts.list_store import visible_lists
from api.contacts.tables import contacts, lists
from api.db.database import Database


class Limits(Struct, frozen=True):
    """How much work what may be.

    A list of at most `small` contacts is looked at sooner than it is looked up among millions; one
    of at most `medium` is, unless a filter finds few. Fewer than `few` are listed, so that no row
    has to be looked at.
    """

    small: int = 5_000
    medium: int = 20_000
    few: int = 10_000
    counted: int = 10_000


DEFAULT_LIMITS = Limits()


class ContactMatches(Struct, frozen=True):
    """A page of contacts; there are at least `total` in all."""

    contacts: Sequence[Contact]
    total: int
    total_is_exact: bool


class Pages:
    """Looks for contacts."""

    def __init__(self, database: Database, limits: Limits = DEFAULT_LIMITS) -> None:
        self._database = database
        self._limits = limits

    async def listed(self, filters: Filters, limit: int, offset: int) -> ContactMatches:
        """Read a page, and count all that fit as far as that is quickly done."""
        async with self._database.reading() as connection:
            known, asked = await self._planned(connection, filters)
            rows = await _page(connection, asked, limit + 1, offset)
            shown = await with_tags(connection, rows[:limit])
            if filters.is_any:
                return ContactMatches(shown, known, total_is_exact=True)
            if len(rows) <= limit and (rows or not offset):
                return ContactMatches(shown, offset + len(rows), total_is_exact=True)
            total, is_exact = await _count(connection, asked, self._limits.counted)
            return ContactMatches(shown, max(total, offset + len(rows) if rows else 0), is_exact)

    async def _planned(self, connection: AsyncConnection, filters: Filters) -> tuple[int, Filters]:
        """Tell how many there are without filters, and how these are looked up."""
        known, hidden = await _kept_counts(connection, filters)
        asked, limits = replace(filters, hidden=hidden), self._limits
        in_list = known if filters.list_id is not None else None
        if in_list is not None and in_list <= limits.small:
            return known, replace(asked, is_small=not filters.is_any)
        is_medium = in_list is not None and in_list <= limits.medium
        if filters.contact_id is not None or len(filters.kinds) < (1 if is_medium else 2):
            return known, asked
        found = (await connection.execute(sizes(asked, limits.few))).one()
        size = dict(zip(asked.kinds, found, strict=True))
        few = tuple(kind for kind in asked.kinds if size[kind] < limits.few)
        by = min(asked.kinds, key=size.__getitem__)
        return known, replace(asked, is_small=is_medium and not few, by=by, few=few)


async def _kept_counts(
    connection: AsyncConnection, filters: Filters
) -> tuple[int, tuple[int, ...]]:
    """Tell how many contacts there are by what lists say, and which lists are deleted."""
    whose = visible_lists(filters.account_id)
    if filters.list_id is not None:
        whose = sa.and_(whose, lists.c.id == filters.list_id)
    own = sa.select(sa.func.coalesce(sa.func.sum(lists.c.contacts), 0)).where(whose)
    deleted = sa.and_(lists.c.account_id == filters.account_id, lists.c.is_deleted)
    some = sa.select(lists.c.id).where(deleted)
    both = sa.select(own.scalar_subquery(), some.exists())
    known, are_deleted = (await connection.execute(both)).one()
    if filters.list_id is not None or not are_deleted:
        return int(known), ()
    return int(known), tuple((await connection.execute(some)).scalars())


async def _page(
    connection: AsyncConnection, filters: Filters, limit: int, offset: int
) -> list[Contact]:
    found = page(filters, limit, offset).subquery()
    query = (
        sa.select(*SHOWN)
        .join_from(found, contacts, contacts.c.id == found.c.id)
        .order_by(*ordered(found.c))
    )
    return [Contact(*row) for row in (await connection.execute(query)).all()]


async def _count(connection: AsyncConnection, filters: Filters, most: int) -> tuple[int, bool]:
    query, share = counted(filters, most)
    wanted, *seen = (await connection.execute(query)).one()
    return int(wanted), max(seen) < share
