"""Events about contacts that running campaigns are to call, in order.

An event is committed with its change, and kept until its contact is deleted, or has a newer one of
the kind, at most for a week.
Campaigns poll for the events after the last one that they have read.
"""

from typing import Any, Literal

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.accounts.store import accounts
from api.common.timestamps import format_ms
from api.contacts.contacts.store import Contact
from api.contacts.tables import contacts, lists
from api.db.columns import Key, Millis, Text
from api.db.database import Store, metadata

RETENTION_MS = 7 * 86_400_000
Kind = Literal["contact-added", "contact-changed"]

events = sa.Table(
    "contact_events",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column(
        "contact_id",
        sa.ForeignKey(contacts.c.id, ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    sa.Column("event", Text(32), nullable=False),
    sa.Column("created_ms", Millis, nullable=False, index=True),
    sa.Index("contact_events_by_account", "account_id", "id"),
    sqlite_autoincrement=True,
)


class ContactEvent(Struct, frozen=True, rename="camel"):
    """An event, with the contact's current list and number."""

    id: str
    event: Kind
    time: str
    contact_id: str
    contact_list_id: str
    phone_number: str


class ContactEventPage(Struct, frozen=True, rename="camel"):
    """Events in order; `next` is the `after` of the next request."""

    data: tuple[ContactEvent, ...]
    next: str


class ContactEvents(Store):
    async def add(self, connection: AsyncConnection, contact: Contact, event: Kind) -> None:
        """Add an event within the transaction that changes a contact, if campaigns are to call it.

        The account's row is locked, so that events are committed in the order of their ids: a
        reader would otherwise miss an event with a smaller id that is committed later.
        """
        if not contact.add_to_running_campaign:
            return
        account = sa.select(accounts.c.id).where(accounts.c.id == contact.account_id)
        await connection.execute(account.with_for_update(key_share=True))
        now_ms = self._now_ms()
        is_old = events.c.created_ms < now_ms - RETENTION_MS
        # An earlier one of the kind says no more: so a contact has one row of each kind.
        is_repeated = sa.and_(events.c.contact_id == contact.id, events.c.event == event)
        await connection.execute(sa.delete(events).where(sa.or_(is_old, is_repeated)))
        row = {
            "account_id": contact.account_id,
            "contact_id": contact.id,
            "event": event,
            "created_ms": now_ms,
        }
        await connection.execute(sa.insert(events).values(row))

    async def after(self, account_id: str, after: int, limit: int) -> ContactEventPage:
        """Return the events after an id."""
        query = (
            sa.select(
                events.c.id,
                events.c.event,
                events.c.created_ms,
                contacts.c.id,
                contacts.c.list_id,
                contacts.c.phone_number,
            )
            .join_from(events, contacts, contacts.c.id == events.c.contact_id)
            .join(lists, lists.c.id == contacts.c.list_id)
            .where(events.c.account_id == account_id, events.c.id > after)
            .where(sa.not_(lists.c.is_deleted))
            .order_by(events.c.id)
            .limit(limit)
        )
        rows = await self._database.rows(query)
        return ContactEventPage(tuple(map(_view, rows)), str(rows[-1][0] if rows else after))


def _view(row: Any) -> ContactEvent:
    event_id, kind, time_ms, contact_id, list_id, number = row
    return ContactEvent(
        str(event_id), kind, format_ms(time_ms), str(contact_id), str(list_id), number
    )
