"""Contacts in the database: looked for, and changed one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.clock import Clock
from api.contacts.folding import folded
from api.contacts.people.filters import Filters
from api.contacts.people.queries import counted, ordered, page
from api.contacts.store import its
from api.contacts.tables import contact_tags, contacts, lists
from api.db import Database

MOST_COUNTED = 10_000
SMALL = 5_000  # contacts: so many are looked at sooner than they are looked up among millions
KEYS = {"f_name": "f_name_key", "l_name": "l_name_key", "email": "email_key"}
_SHOWN = [column for column in contacts.c if not column.key.endswith("_key")]


class Contact(Struct, frozen=True):
    """A contact as it stands; `fields` is JSON, of those that its list assigns."""

    id: int
    account_id: str
    list_id: int
    phone_number: str
    f_name: str | None
    l_name: str | None
    email: str | None
    fields: str | None
    call_status: str | None
    add_to_running_campaign: bool
    created_ms: int
    updated_ms: int
    tags: tuple[str, ...] = ()


class Found(Struct, frozen=True):
    """A page of contacts; there are at least `total` in all."""

    contacts: Sequence[Contact]
    total: int
    total_is_exact: bool


class People:
    """What is kept of contacts."""

    def __init__(
        self,
        database: Database,
        now_ms: Clock,
        *,
        small: int = SMALL,
        most_counted: int = MOST_COUNTED,
    ) -> None:
        self._database = database
        self._now_ms = now_ms
        self._small = small
        self._most_counted = most_counted

    async def listed(self, filters: Filters, limit: int, offset: int) -> Found:
        """Read a page, and count all that fit as far as that is quickly done."""
        async with self._database.reading() as connection:
            known, hidden = await _kept_counts(connection, filters)
            is_small = filters.list_id is not None and known <= self._small
            asked = replace(filters, hidden=hidden, is_small=is_small and not filters.is_any)
            rows = await _page(connection, asked, limit + 1, offset)
            shown = await _with_tags(connection, rows[:limit])
            if filters.is_any:
                return Found(shown, known, total_is_exact=True)
            if len(rows) <= limit and (rows or not offset):
                return Found(shown, offset + len(rows), total_is_exact=True)
            total, is_exact = await _count(connection, asked, self._most_counted)
            return Found(shown, max(total, offset + len(rows) if rows else 0), is_exact)

    async def get(self, account_id: str, contact_id: int) -> Contact | None:
        """Read a contact."""
        async with self._database.reading() as connection:
            return await self.read(connection, account_id, contact_id)

    async def read(
        self, connection: AsyncConnection, account_id: str, contact_id: int
    ) -> Contact | None:
        """Read a contact within a transaction; none of a list that is deleted."""
        return await self._one(connection, _its(account_id, contact_id))

    async def hold(
        self, connection: AsyncConnection, account_id: str, contact_id: int
    ) -> Contact | None:
        """Read a contact that nobody else changes before this transaction ends."""
        query = _its(account_id, contact_id)
        return await self._one(connection, query.with_for_update(of=contacts))

    async def _one(self, connection: AsyncConnection, query: sa.Select[Any]) -> Contact | None:
        rows = (await connection.execute(query)).mappings().all()
        found = await _with_tags(connection, [Contact(**row) for row in rows])
        return found[0] if found else None

    async def after(self, list_id: int, after: int, limit: int) -> list[Contact]:
        """Read a list's contacts on from one, in the order in which they came."""
        query = (
            sa.select(*_SHOWN)
            .where(contacts.c.list_id == list_id, contacts.c.id > after)
            .order_by(contacts.c.id)
            .limit(limit)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
            return await _with_tags(connection, [Contact(*row) for row in rows])

    async def add(
        self, connection: AsyncConnection, account_id: str, list_id: int, values: Mapping[str, Any]
    ) -> int:
        """Add a contact within a transaction; gives its id."""
        now_ms = self._now_ms()
        row = {
            "account_id": account_id,
            "list_id": list_id,
            "add_to_running_campaign": False,
            "created_ms": now_ms,
            "updated_ms": now_ms,
            **keyed(values),
        }
        added = await connection.execute(sa.insert(contacts).values(row).returning(contacts.c.id))
        return int(added.scalar_one())

    async def change(
        self, connection: AsyncConnection, contact_id: int, values: Mapping[str, Any]
    ) -> None:
        """Change a contact within a transaction; its tags go with it to another list."""
        row = {**keyed(values), "updated_ms": self._now_ms()}
        await connection.execute(sa.update(contacts).where(_is(contact_id)).values(row))
        if "list_id" in values:
            its_tags = sa.update(contact_tags).where(contact_tags.c.contact_id == contact_id)
            await connection.execute(its_tags.values(list_id=values["list_id"]))

    async def remove(self, connection: AsyncConnection, contact_id: int) -> bool:
        """Take a contact out within a transaction, with all that is about it."""
        gone = await connection.execute(sa.delete(contacts).where(_is(contact_id)))
        return bool(gone.rowcount)


async def _kept_counts(
    connection: AsyncConnection, filters: Filters
) -> tuple[int, tuple[int, ...]]:
    """Tell how many contacts there are by what lists say, and which lists are deleted."""
    whose = its(filters.account_id)
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
        sa.select(*_SHOWN)
        .join_from(found, contacts, contacts.c.id == found.c.id)
        .order_by(*ordered(found.c))
    )
    return [Contact(*row) for row in (await connection.execute(query)).all()]


async def _count(connection: AsyncConnection, filters: Filters, most: int) -> tuple[int, bool]:
    query, share = counted(filters, most)
    wanted, *seen = (await connection.execute(query)).one()
    return int(wanted), max(seen) < share


async def _with_tags(connection: AsyncConnection, found: list[Contact]) -> list[Contact]:
    query = (
        sa.select(contact_tags.c.contact_id, contact_tags.c.tag_id)
        .where(contact_tags.c.contact_id.in_([each.id for each in found]))
        .order_by(contact_tags.c.contact_id, contact_tags.c.tag_id)
    )
    tags: dict[int, list[str]] = {}
    for contact_id, tag_id in (await connection.execute(query)) if found else ():
        tags.setdefault(contact_id, []).append(tag_id)
    return [replace(each, tags=tuple(tags.get(each.id, ()))) for each in found]


def keyed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Add the keys by which names and the e-mail are looked for."""
    keys = {
        key: folded(values[name]) if values[name] else None
        for name, key in KEYS.items()
        if name in values
    }
    return {**values, **keys}


def _its(account_id: str, contact_id: int) -> sa.Select[Any]:
    return (
        sa.select(*_SHOWN)
        .join(lists, lists.c.id == contacts.c.list_id)
        .where(its(account_id), contacts.c.id == contact_id)
    )


def _is(contact_id: int) -> sa.ColumnElement[bool]:
    return contacts.c.id == contact_id
