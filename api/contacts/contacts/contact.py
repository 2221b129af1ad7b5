"""A contact in the database."""

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import contact_tags, contacts
from api.db.page_bytes import text_size
from api.http.paging import in_pieces

_BYTES_OF_TAG = 3  # its quotes and its comma
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
