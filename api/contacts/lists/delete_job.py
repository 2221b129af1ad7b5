"""The background job that deletes a list: its contacts in batches, finally the list itself."""

from typing import Any

import sqlalchemy as sa

from api.contacts.exports.store import delete_downloads
from api.contacts.tables import contact_tags, contacts, files, lists
from api.db.database import Store
from api.jobs.store import Job, jobs
from api.jobs.worker import Progress

KIND = "contacts-erase"
BATCH_ROWS = 500  # some ms, during which no other account writes to SQLite


class ListDeleter(Store):
    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Delete what is left of a list."""
        list_id, deleted = job.payload["list_id"], 0
        while count := await self._delete_batch(list_id):
            deleted += count
            await progress(deleted, None)
        return {"contacts": deleted}

    async def resume_failed(self) -> None:
        """Let jobs that have failed go on: what a customer deleted must not stay stored."""
        has_failed = sa.and_(jobs.c.kind == KIND, jobs.c.state == "failed")
        again = {"state": "waiting", "attempts": 0, "due_ms": self._now_ms(), "ended_ms": None}
        await self._database.execute(sa.update(jobs).where(has_failed).values(again))

    async def _delete_batch(self, list_id: int) -> int:
        """Delete some contacts, or the list if there are none; return how many contacts."""
        ids = sa.select(contacts.c.id).where(contacts.c.list_id == list_id)
        batch = ids.order_by(contacts.c.id).limit(BATCH_ROWS).scalar_subquery()
        async with self._database.writing() as connection:
            # Not by cascade: PostgreSQL would count the bytes of each contact's tags by themselves.
            tags = sa.delete(contact_tags).where(contact_tags.c.contact_id.in_(batch))
            await connection.execute(tags)
            deletion = sa.delete(contacts).where(contacts.c.id.in_(batch))
            deleted = (await connection.execute(deletion)).rowcount
            if not deleted:
                await delete_downloads(connection, list_id)  # requested at the last moment
                await connection.execute(sa.delete(files).where(files.c.list_id == list_id))
                await connection.execute(sa.delete(lists).where(lists.c.id == list_id))
        return deleted
