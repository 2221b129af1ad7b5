"""Adds, changes and deletes contacts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct, UnsetType
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.cache import AccountCache
from api.common.errors import NotFound
from api.contacts.contacts.contact_events import ContactEvents, Kind
from api.contacts.contacts.schemas import CallStatusRequest, ContactRequest
from api.contacts.contacts.store import Contact, ContactStore
from api.contacts.contacts.views import ContactView, contact_view
from api.contacts.ids import parse_id
from api.contacts.list_store import ContactList, ListStore, adjust_contact_count
from api.contacts.quotas import ContactQuotas
from api.db.database import Database
from wire.decoding.errors import BadInput
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber


class ContactService(Struct, frozen=True):
    """Operations on contacts; a change and its event are one commit."""

    database: Database
    contacts: ContactStore
    lists: ListStore
    events: ContactEvents
    accounts: AccountCache
    quotas: ContactQuotas

    async def add(self, account_id: str, body: ContactRequest) -> ContactView:
        """Add a contact to a list; raises BadInput, Conflict if the account has its contacts."""
        number = await self._number(account_id, body)
        with _unique_number():
            async with self.database.writing() as connection:
                target = await self._target_list(connection, account_id, body)
                fields = _merged_fields(None, body, target)
                values = {"add_to_running_campaign": False, **_values(body, number, fields)}
                contact_id = await self.contacts.add(connection, account_id, target.id, values)
                await adjust_contact_count(connection, target.id, 1)
                await self.quotas.check_contacts(connection, account_id)
                return await self._publish(connection, account_id, contact_id, "contact-added")

    async def change(self, account_id: str, contact_id: str, body: ContactRequest) -> ContactView:
        """Change a contact; the id of another list moves it there. Raises as `add`, NotFound."""
        number = await self._number(account_id, body)
        with _unique_number():
            async with self.database.writing() as connection:
                old = await self._lock(connection, account_id, contact_id)
                target = await self._target_list(connection, account_id, body)
                values = _values(body, number, _merged_fields(old, body, target))
                if target.id != old.list_id:
                    values["list_id"] = target.id
                await self.contacts.change(connection, old.id, values)
                await _count_move(connection, old.list_id, target.id)
                if len(values["fields"] or "") > len(old.fields or ""):
                    await self.quotas.check_contacts(connection, account_id)
                return await self._publish(connection, account_id, old.id, "contact-changed")

    async def set_call_status(
        self, account_id: str, contact_id: str, body: CallStatusRequest
    ) -> ContactView:
        """Set a contact's call status; raises NotFound."""
        async with self.database.writing() as connection:
            old = await self._lock(connection, account_id, contact_id)
            await self.contacts.change(connection, old.id, {"call_status": body.call_status})
            contact = await self.contacts.read(connection, account_id, old.id)
        return contact_view(_existing(contact))

    async def delete(self, account_id: str, contact_id: str, list_id: str) -> ContactView:
        """Delete a contact from its list, and return it as it was; raises NotFound."""
        async with self.database.writing() as connection:
            old = await self._lock(connection, account_id, contact_id)
            if old.list_id != parse_id(list_id, "contact list"):
                raise NotFound("no contact of this id in this list")
            if await self.contacts.delete(connection, old.id):
                await adjust_contact_count(connection, old.list_id, -1)
        return contact_view(old)

    async def _lock(self, connection: AsyncConnection, account_id: str, contact_id: str) -> Contact:
        contact = await self.contacts.lock(connection, account_id, parse_id(contact_id, "contact"))
        return _existing(contact)

    async def _target_list(
        self, connection: AsyncConnection, account_id: str, body: ContactRequest
    ) -> ContactList:
        try:
            list_id = parse_id(body.list_id, "contact list")
            return await self.lists.read(connection, account_id, list_id)
        except NotFound:
            raise BadInput("contactListId", "no contact list of this id") from None

    async def _number(self, account_id: str, body: ContactRequest) -> str:
        region = (await self.accounts.get(account_id)).region
        try:
            return e164(body.phone_number, region)
        except InvalidNumber as error:
            raise BadInput("phoneNumber", str(error)) from None

    async def _publish(
        self, connection: AsyncConnection, account_id: str, contact_id: int, event: Kind
    ) -> ContactView:
        contact = _existing(await self.contacts.read(connection, account_id, contact_id))
        await self.events.add(connection, contact, event)
        return contact_view(contact)


async def _count_move(connection: AsyncConnection, old: int, new: int) -> None:
    """Move a contact from one list's count to another's; in id order, to avoid deadlocks."""
    if old != new:
        for list_id in sorted((old, new)):
            await adjust_contact_count(connection, list_id, 1 if list_id == new else -1)


@contextmanager
def _unique_number() -> Iterator[None]:
    """Raise BadInput if the database finds that the list has the number already."""
    try:
        yield
    except IntegrityError:
        raise BadInput("phoneNumber", "the list has this number already", "duplicate") from None


def _values(body: ContactRequest, number: str, fields: str | None) -> dict[str, Any]:
    """Return the columns that a body sets."""
    texts = {"f_name": body.f_name, "l_name": body.l_name, "email": body.email}
    values: dict[str, Any] = {
        name: (text or "").strip() or None
        for name, text in texts.items()
        if not isinstance(text, UnsetType)
    }
    if not isinstance(body.add_to_running_campaign, UnsetType):
        values["add_to_running_campaign"] = body.add_to_running_campaign
    return {**values, "phone_number": number, "fields": fields}


def _merged_fields(old: Contact | None, body: ContactRequest, target: ContactList) -> str | None:
    """Return a contact's own fields with those of a body; what is null or empty is removed.

    Of a contact that is moved, fields that the target list does not assign are removed, too.
    """
    stored: dict[str, str] = msgspec.json.decode((old and old.fields) or "{}")
    given: Mapping[str, str | None] = {}
    if not isinstance(body.fields, UnsetType):
        given = dict.fromkeys(stored) if body.fields is None else body.fields
    for name, text in given.items():
        if name not in target.assigned_fields and (text or name not in stored):
            raise BadInput(f"fields.{name}", "the list assigns no such field")
    merged = {**stored, **{name: (text or "").strip() for name, text in given.items()}}
    is_moved = old is not None and old.list_id != target.id
    kept = {
        name: text
        for name, text in merged.items()
        if text and (name in target.assigned_fields or not is_moved)
    }
    return msgspec.json.encode(kept).decode() if kept else None


def _existing(contact: Contact | None) -> Contact:
    if contact is None:
        raise NotFound("no contact of this id")
    return contact
