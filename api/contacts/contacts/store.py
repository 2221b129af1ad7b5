"""Contacts in the database: read, added, changed and deleted one by one."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.list_store import visible_lists
from api.contacts.search_keys import normalize
from api.contacts.tables import contact_tags, contacts, lists
from api.db.database import Store
from api.db.page_bytes import fits_page, sized_page, text_size
from api.http.paging import in_pieces

_BYTES_OF_TAG = 3  # its quotes and its comma
COLUMNS = [column for column in contacts.c if not column.key.endswith("_key")]
KEY_COLUMNS = {"f_name": "f_name_key", "l_name": "l_name_key", "email": "email_key"}


class Contact(Struct, frozen=True):
    """A contact; `fields` are its list's assigned fields, as JSON."""

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


def shown_size() -> sa.ColumnElement[int]:
    """Return about how many bytes a contact takes in a page, with its tags."""
    joined = sa.func.sum(sa.func.length(contact_tags.c.tag_id) + _BYTES_OF_TAG)
    of_tags = sa.select(joined).where(contact_tags.c.contact_id == contacts.c.id)
    return text_size(contacts.c.fields) + sa.func.coalesce(of_tags.scalar_subquery(), 0)


async def with_tags(connection: AsyncConnection, selected: list[Contact]) -> list[Contact]:
    """Return the contacts with their tags."""
    if not selected:
        return []
    # One row of each contact: a row of each tag would be a hundred times as many.
    query = (
        sa.select(contact_tags.c.contact_id, sa.func.aggregate_strings(contact_tags.c.tag_id, ","))
        .where(contact_tags.c.contact_id.in_([each.id for each in selected]))
        .group_by(contact_tags.c.contact_id)
    )
    tags: dict[int, str] = dict((await connection.execute(query)).all())

    def tagged(contact: Contact) -> Contact:
        joined = tags.get(contact.id)
        return (
            contact if joined is None else replace(contact, tags=tuple(sorted(joined.split(","))))
        )

    return await in_pieces(tagged, selected)


class ContactStore(Store):
    async def get(self, account_id: str, contact_id: int) -> Contact | None:
        async with self._database.reading() as connection:
            return await self.read(connection, account_id, contact_id)

    async def read(
        self, connection: AsyncConnection, account_id: str, contact_id: int
    ) -> Contact | None:
        """Return a contact, within a transaction; None if its list is deleted."""
        return await self._one(connection, _select(account_id, contact_id))

    async def lock(
        self, connection: AsyncConnection, account_id: str, contact_id: int
    ) -> Contact | None:
        """Return a contact, locked until the transaction ends."""
        query = _select(account_id, contact_id)
        return await self._one(connection, query.with_for_update(of=contacts))

    async def _one(self, connection: AsyncConnection, query: sa.Select[Any]) -> Contact | None:
        rows = (await connection.execute(query)).mappings().all()
        contacts_with_tags = await with_tags(connection, [Contact(**row) for row in rows])
        return contacts_with_tags[0] if contacts_with_tags else None

    async def after(self, list_id: int, after: int, limit: int) -> list[Contact]:
        """Return a list's contacts after an id, in the order in which they were added.

        They end after some megabytes.
        """
        found = (
            sa.select(contacts.c.id)
            .where(contacts.c.list_id == list_id, contacts.c.id > after)
            .order_by(contacts.c.id)
            .limit(limit)
            .subquery()
        )
        joined = found.join(contacts, contacts.c.id == found.c.id)
        sized = sized_page(found, joined, shown_size(), lambda sized: [sized.c.id])
        query = (
            sa.select(*COLUMNS)
            .join_from(sized, contacts, contacts.c.id == sized.c.id)
            .where(fits_page(sized))
            .order_by(sized.c.id)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
            return await with_tags(connection, [Contact(*row) for row in rows])

    async def add(
        self, connection: AsyncConnection, account_id: str, list_id: int, values: Mapping[str, Any]
    ) -> int:
        """Add a contact within a transaction, and return its id."""
        now_ms = self._now_ms()
        row = {
            "account_id": account_id,
            "list_id": list_id,
            "add_to_running_campaign": False,
            "created_ms": now_ms,
            "updated_ms": now_ms,
            **with_search_keys(values),
        }
        added = await connection.execute(sa.insert(contacts).values(row).returning(contacts.c.id))
        return int(added.scalar_one())

    async def change(
        self, connection: AsyncConnection, contact_id: int, values: Mapping[str, Any]
    ) -> None:
        """Change a contact within a transaction; its tags move with it to another list."""
        row = {**with_search_keys(values), "updated_ms": self._now_ms()}
        await connection.execute(sa.update(contacts).where(_is(contact_id)).values(row))
        if "list_id" in values:
            tags = sa.update(contact_tags).where(contact_tags.c.contact_id == contact_id)
            await connection.execute(tags.values(list_id=values["list_id"]))

    async def delete(self, connection: AsyncConnection, contact_id: int) -> bool:
        """Delete a contact and its tags and events within a transaction."""
        deletion = await connection.execute(sa.delete(contacts).where(_is(contact_id)))
        return bool(deletion.rowcount)


def with_search_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Add the search keys of names and e-mail address."""
    keys = {
        key: normalize(values[name]) if values[name] else None
        for name, key in KEY_COLUMNS.items()
        if name in values
    }
    return {**values, **keys}


def _select(account_id: str, contact_id: int) -> sa.Select[Any]:
    return (
        sa.select(*COLUMNS)
        .join(lists, lists.c.id == contacts.c.list_id)
        .where(visible_lists(account_id), contacts.c.id == contact_id)
    )


def _is(contact_id: int) -> sa.ColumnElement[bool]:
    return contacts.c.id == contact_id
