"""A contact in the database."""

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import contact_tags, contacts

COLUMNS = [column for column in contacts.c if not column.key.endswith("_key")]


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


async def with_tags(connection: AsyncConnection, selected: list[Contact]) -> list[Contact]:
    """Return the contacts with their tags."""
    query = (
        sa.select(contact_tags.c.contact_id, contact_tags.c.tag_id)
        .where(contact_tags.c.contact_id.in_([each.id for each in selected]))
        .order_by(contact_tags.c.contact_id, contact_tags.c.tag_id)
    )
    tags: dict[int, list[str]] = {}
    for contact_id, tag_id in (await connection.execute(query)) if selected else ():
        tags.setdefault(contact_id, []).append(tag_id)
    return [replace(each, tags=tuple(tags.get(each.id, ()))) for each in selected]
