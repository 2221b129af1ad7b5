"""Tags in the database: those of a list, and those of its contacts, replaced in batches.

Each batch is a transaction of its own, so that a large list blocks others only briefly; replacing a
tag twice changes nothing the second time.
"""

from collections.abc import Sequence
from typing import Annotated

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.quotas import ContactQuotas
from api.contacts.tables import contact_tags, contacts, list_tags
from api.db.database import INSERTS, Database
from base.limit import Limit

BATCH_ROWS = 500  # some ms, during which no other account writes to SQLite
MAX_TAGS_OF_CONTACT: Annotated[
    int, Limit("account", "further ones are left out", "Tags of one contact.")
] = 100


class TagReplacementJob(Struct, frozen=True):
    """The list, the tag to remove from its contacts, and the tag to add."""

    list_id: int
    remove: str | None
    insert: str | None

    @property
    def is_longer(self) -> bool:
        """Whether contacts have more bytes of tags than before."""
        return len((self.insert or "").encode()) > len((self.remove or "").encode())


class TagStore(Struct, frozen=True):
    database: Database
    quotas: ContactQuotas

    async def change(
        self, connection: AsyncConnection, list_id: int, add: Sequence[str], remove: Sequence[str]
    ) -> None:
        """Add and remove a list's tags within a transaction."""
        own = list_tags.c.list_id == list_id
        await connection.execute(sa.delete(list_tags).where(own, list_tags.c.tag_id.in_(remove)))
        rows = [{"list_id": list_id, "tag_id": tag} for tag in dict.fromkeys(add)]
        if rows:
            insert = INSERTS[connection.dialect.name](list_tags).on_conflict_do_nothing()
            await connection.execute(insert, rows)

    async def replace_batch(self, account_id: str, job: TagReplacementJob, after: int) -> list[int]:
        """Replace the tag of the next contacts after an id; return their ids, none at the end.

        Raises Conflict beyond the quota.
        """
        async with self.database.writing() as connection:
            ids = await _next_ids(connection, job, after)
            if ids and job.insert:
                await _insert(connection, job, ids)
            if ids and job.remove:
                await connection.execute(_deletion(job.list_id, job.remove, ids))
            if ids and job.is_longer:
                await self.quotas.check_contacts(connection, account_id)
        return ids


async def _next_ids(connection: AsyncConnection, job: TagReplacementJob, after: int) -> list[int]:
    if job.remove:
        has_tag, contact_id = contact_tags.c.tag_id == job.remove, contact_tags.c.contact_id
        condition = sa.and_(contact_tags.c.list_id == job.list_id, has_tag)
    else:
        contact_id, condition = contacts.c.id, contacts.c.list_id == job.list_id
    query = sa.select(contact_id).where(condition, contact_id > after).order_by(contact_id)
    return list((await connection.execute(query.limit(BATCH_ROWS))).scalars())


async def _insert(connection: AsyncConnection, job: TagReplacementJob, ids: list[int]) -> None:
    # Waits for transactions that delete or move a contact, and leaves out that contact then.
    in_list = sa.and_(contacts.c.list_id == job.list_id, contacts.c.id.in_(ids))
    others = contact_tags.c.tag_id != (job.remove or "")
    tags = sa.select(sa.func.count()).where(contact_tags.c.contact_id == contacts.c.id, others)
    has_room = tags.scalar_subquery() < MAX_TAGS_OF_CONTACT
    query = sa.select(contacts.c.id).where(in_list, has_room)
    locked = await connection.execute(query.with_for_update(read=True, key_share=True))
    insert = INSERTS[connection.dialect.name](contact_tags).on_conflict_do_nothing()
    rows = [
        {"list_id": job.list_id, "tag_id": job.insert, "contact_id": each}
        for each in locked.scalars()
    ]
    if rows:
        await connection.execute(insert, rows)


def _deletion(list_id: int, tag: str, ids: list[int]) -> sa.Delete:
    has_tag = sa.and_(contact_tags.c.list_id == list_id, contact_tags.c.tag_id == tag)
    in_batch = contact_tags.c.contact_id.between(ids[0], ids[-1])
    return sa.delete(contact_tags).where(has_tag, in_batch)
