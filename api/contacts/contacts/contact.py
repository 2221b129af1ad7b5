"""A contact as the database has it."""

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import contact_tags, contacts

SHOWN = [column for column in contacts.c if not column.key.endswith("_key")]


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


async def with_tags(connection: AsyncConnection, found: list[Contact]) -> list[Contact]:
    """Read the tags of contacts."""
    query = (
        sa.select(contact_tags.c.contact_id, contact_tags.c.tag_id)
        .where(contact_tags.c.contact_id.in_([each.id for each in found]))
        .order_by(contact_tags.c.contact_id, contact_tags.c.tag_id)
    )
    tags: dict[int, list[str]] = {}
    for contact_id, tag_id in (await connection.execute(query)) if found else ():
        tags.setdefault(contact_id, []).append(tag_id)
    return [replace(each, tags=tuple(tags.get(each.id, ()))) for each in found]
