"""A deleted list taken out, a background job: its contacts bit by bit, at last the list itself."""

from typing import Any

import sqlalchemy as sa

from api.contacts.exports.store import delete_downloads
from api.contacts.tables import contacts, files, lists
from api.db.database import Database
from api.jobs.store import Job
from api.jobs.worker import Progress

KIND = "contacts-erase"
BATCH_ROWS = 5_000


class ListDeleter:
    """Takes deleted lists out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Take out what is left of a list."""
        list_id, gone = job.payload["list_id"], 0
        while erased := await self._some(list_id):
            gone += erased
            await progress(gone, None)
        return {"contacts": gone}

    async def _some(self, list_id: int) -> int:
        """Take some rows out, and the list after the last; returns how many."""
        some = sa.select(contacts.c.id).where(contacts.c.list_id == list_id).limit(BATCH_ROWS)
        async with self._database.writing() as connection:
            its = sa.delete(contacts).where(contacts.c.id.in_(some.scalar_subquery()))
            erased = (await connection.execute(its)).rowcount
            if not erased:
                await delete_downloads(connection, list_id)  # asked for at the last moment
                await connection.execute(sa.delete(files).where(files.c.list_id == list_id))
                await connection.execute(sa.delete(lists).where(lists.c.id == list_id))
        return erased
