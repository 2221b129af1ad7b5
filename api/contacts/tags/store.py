"""Tags in the database: those of a list, and those of its contacts, replaced batch by batch.

A batch is a transaction of its own, so nobody waits long for a list of a million; what is done
twice changes nothing the second time.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import contact_tags, contacts, list_tags
from api.db.database import INSERTS, Database

BATCH = 5_000


class TagReplacementJob(Struct, frozen=True):
    """A list whose contacts lose a tag, or get one, or one for the other."""

    list_id: int
    remove: str | None
    insert: str | None


class TagStore:
    """What is kept of tags."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def change(
        self, connection: AsyncConnection, list_id: int, add: Sequence[str], remove: Sequence[str]
    ) -> None:
        """Change a list's tags within a transaction; those that it has, it has once."""
        mine = list_tags.c.list_id == list_id
        await connection.execute(sa.delete(list_tags).where(mine, list_tags.c.tag_id.in_(remove)))
        rows = [{"list_id": list_id, "tag_id": tag} for tag in dict.fromkeys(add)]
        if rows:
            insert = INSERTS[connection.dialect.name](list_tags).on_conflict_do_nothing()
            await connection.execute(insert, rows)

    async def next_batch(self, wanted: TagReplacementJob, after: int) -> list[int]:
        """Do the next batch of a list's contacts after one; gives their ids, none at the end."""
        async with self._database.writing() as connection:
            ids = await _next(connection, wanted, after)
            if ids and wanted.insert:
                await _insert(connection, wanted.list_id, wanted.insert, ids)
            if ids and wanted.remove:
                await connection.execute(_removal(wanted.list_id, wanted.remove, ids))
        return ids


async def _next(connection: AsyncConnection, wanted: TagReplacementJob, after: int) -> list[int]:
    if wanted.remove:
        its, contact_id = contact_tags.c.tag_id == wanted.remove, contact_tags.c.contact_id
        whose = sa.and_(contact_tags.c.list_id == wanted.list_id, its)
    else:
        contact_id, whose = contacts.c.id, contacts.c.list_id == wanted.list_id
    query = sa.select(contact_id).where(whose, contact_id > after).order_by(contact_id)
    return list((await connection.execute(query.limit(BATCH))).scalars())


async def _insert(connection: AsyncConnection, list_id: int, tag: str, ids: list[int]) -> None:
    # One that is being deleted meanwhile, or put elsewhere, is waited for, and is gone then.
    its = sa.and_(contacts.c.list_id == list_id, contacts.c.id.in_(ids))
    there = sa.select(contacts.c.id).where(its)
    held = await connection.execute(there.with_for_update(read=True, key_share=True))
    insert = INSERTS[connection.dialect.name](contact_tags).on_conflict_do_nothing()
    rows = [{"list_id": list_id, "tag_id": tag, "contact_id": each} for each in held.scalars()]
    if rows:
        await connection.execute(insert, rows)


def _removal(list_id: int, tag: str, ids: list[int]) -> sa.Delete:
    its = sa.and_(contact_tags.c.list_id == list_id, contact_tags.c.tag_id == tag)
    some = contact_tags.c.contact_id.between(ids[0], ids[-1])
    return sa.delete(contact_tags).where(its, some)
