"""Contacts made, changed and taken out, one by one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import UnsetType
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.cache import AccountCache
from api.common.errors import NotFound
from api.contacts.contacts.contact import Contact
from api.contacts.contacts.contact_events import ContactEvents, Kind
from api.contacts.contacts.schemas import CallStatusBody, ContactBody
from api.contacts.contacts.store import ContactStore
from api.contacts.contacts.views import ContactView, contact_view
from api.contacts.ids import read_id
from api.contacts.list_store import ContactList, ListStore, adjust_contact_count
from api.contacts.phone_numbers import InvalidNumber, e164
from api.db.database import Database
from wire.errors import BadInput


class ContactService:
    """One method a request, each about one account; a change and what it tells are one commit."""

    def __init__(
        self,
        database: Database,
        people: ContactStore,
        lists: ListStore,
        told: ContactEvents,
        known: AccountCache,
    ) -> None:
        self._database = database
        self._contacts = people
        self._lists = lists
        self._events = told
        self._known = known

    async def add(self, account_id: str, body: ContactBody) -> ContactView:
        """Put a contact into a list."""
        number = await self._number(account_id, body)
        with _once():
            async with self._database.writing() as connection:
                into = await self._into(connection, account_id, body)
                values = _values(body, number, into)
                contact_id = await self._contacts.add(connection, account_id, into.id, values)
                await adjust_contact_count(connection, into.id, 1)
                return await self._shown(connection, account_id, contact_id, "contact-added")

    async def change(self, account_id: str, contact_id: str, body: ContactBody) -> ContactView:
        """Change a contact; with the id of another list, it is put there."""
        number = await self._number(account_id, body)
        with _once():
            async with self._database.writing() as connection:
                old = await self._old(connection, account_id, contact_id)
                into = await self._into(connection, account_id, body)
                values = _values(body, number, into)
                if into.id != old.list_id:
                    values["list_id"] = into.id
                    values.setdefault("fields", _kept(old, into))
                await self._contacts.change(connection, old.id, values)
                await _moved(connection, old.list_id, into.id)
                return await self._shown(connection, account_id, old.id, "contact-changed")

    async def set_status(
        self, account_id: str, contact_id: str, body: CallStatusBody
    ) -> ContactView:
        """Note how calling a contact went."""
        async with self._database.writing() as connection:
            old = await self._old(connection, account_id, contact_id)
            await self._contacts.change(connection, old.id, {"call_status": body.call_status})
            found = await self._contacts.read(connection, account_id, old.id)
        return contact_view(_there(found))

    async def remove(self, account_id: str, contact_id: str, list_id: str) -> ContactView:
        """Take a contact out of the list that it is in, and give what it was; raises NotFound."""
        async with self._database.writing() as connection:
            old = await self._old(connection, account_id, contact_id)
            if old.list_id != read_id(list_id, "contact list"):
                raise NotFound("no contact of this id in this list")
            if await self._contacts.remove(connection, old.id):
                await adjust_contact_count(connection, old.list_id, -1)
        return contact_view(old)

    async def _old(self, connection: AsyncConnection, account_id: str, contact_id: str) -> Contact:
        found = await self._contacts.hold(connection, account_id, read_id(contact_id, "contact"))
        return _there(found)

    async def _into(
        self, connection: AsyncConnection, account_id: str, body: ContactBody
    ) -> ContactList:
        try:
            list_id = read_id(body.list_id, "contact list")
            return await self._lists.read(connection, account_id, list_id)
        except NotFound:
            raise BadInput("contactListId", "no contact list of this id") from None

    async def _number(self, account_id: str, body: ContactBody) -> str:
        region = (await self._known.get(account_id)).account.region
        try:
            return e164(body.phone_number, region)
        except InvalidNumber as error:
            raise BadInput("phoneNumber", str(error)) from None

    async def _shown(
        self, connection: AsyncConnection, account_id: str, contact_id: int, event: Kind
    ) -> ContactView:
        contact = _there(await self._contacts.read(connection, account_id, contact_id))
        await self._events.add(connection, contact, event)
        return contact_view(contact)


async def _moved(connection: AsyncConnection, old: int, new: int) -> None:
    """Count a contact where it is now; lists in one order, or two could wait for each other."""
    if old != new:
        for list_id in sorted((old, new)):
            await adjust_contact_count(connection, list_id, 1 if list_id == new else -1)


@contextmanager
def _once() -> Iterator[None]:
    """Say that a number is in the list already; the database knows."""
    try:
        yield
    except IntegrityError:
        raise BadInput("phoneNumber", "the list has this number already", "duplicate") from None


def _values(body: ContactBody, number: str, into: ContactList) -> dict[str, Any]:
    """Give the columns that a body sets."""
    given = {"f_name": body.f_name, "l_name": body.l_name, "email": body.email}
    values: dict[str, Any] = {
        name: (text or "").strip() or None
        for name, text in given.items()
        if not isinstance(text, UnsetType)
    }
    if not isinstance(body.fields, UnsetType):
        values["fields"] = _fields(body.fields, into)
    campaign = {"add_to_running_campaign": body.to_campaign}
    return {**values, **campaign, "phone_number": number}


def _fields(given: Mapping[str, str], into: ContactList) -> str | None:
    for name in given:
        if name not in into.assigned_fields:
            raise BadInput(f"fields.{name}", "the list assigns no such field")
    return msgspec.json.encode(given).decode() if given else None


def _kept(old: Contact, into: ContactList) -> str | None:
    """Give those of a contact's fields that another list assigns, too."""
    fields: dict[str, str] = msgspec.json.decode(old.fields or "{}")
    kept = {name: text for name, text in fields.items() if name in into.assigned_fields}
    return msgspec.json.encode(kept).decode() if kept else None


def _there(found: Contact | None) -> Contact:
    if found is None:
        raise NotFound("no contact of this id")
    return found
