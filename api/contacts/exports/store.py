"""The exports of each list, so that they are deleted with it, and the end of all old jobs."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import imports, lists
from api.db.database import Database, Store, metadata
from api.jobs.artifacts import job_parts
from api.jobs.store import jobs

DELETED = "deleted-download"  # until its parts are deleted
JOB_KEPT_MS = 30 * 86_400_000
BATCH_JOBS = 500

downloads = sa.Table(
    "contact_downloads",
    metadata,
    sa.Column("job_id", sa.ForeignKey(jobs.c.id), primary_key=True),
    sa.Column("list_id", sa.ForeignKey(lists.c.id), nullable=False, index=True),
)


async def add_download(connection: AsyncConnection, job_id: str, list_id: int) -> None:
    """Store an export's list, in the transaction that adds its job."""
    await connection.execute(sa.insert(downloads).values(job_id=job_id, list_id=list_id))


async def cancel_downloads(connection: AsyncConnection, list_id: int) -> None:
    """Hide a list's exports within a transaction, and end them."""
    ended = {
        "kind": DELETED,
        "state": "failed",
        "error": "the contact list was deleted",
        "ended_ms": sa.func.coalesce(jobs.c.ended_ms, jobs.c.created_ms),
    }
    of_list = sa.select(downloads.c.job_id).where(downloads.c.list_id == list_id)
    await connection.execute(sa.update(jobs).where(jobs.c.id.in_(of_list)).values(ended))


async def delete_downloads(database: Database, list_id: int) -> None:
    """Delete a list's exports, their files and jobs."""
    query = sa.select(downloads.c.job_id).where(downloads.c.list_id == list_id)
    await delete_jobs(database, [job_id for (job_id,) in await database.rows(query)])


async def delete_jobs(database: Database, ids: Sequence[str]) -> None:
    """Delete jobs that write files, and the files, a few parts at a time."""
    await database.delete(job_parts, job_parts.c.job_id.in_(ids))
    async with database.writing() as connection:
        for column in (job_parts.c.job_id, downloads.c.job_id, jobs.c.id):
            await connection.execute(sa.delete(column.table).where(column.in_(ids)))


class OldJobs(Store):
    """Jobs that ended long ago; a list's last import is kept, which it shows."""

    async def delete(self) -> None:
        """Delete them in batches."""
        is_shown = sa.exists().where(imports.c.job_id == jobs.c.id)
        old = sa.and_(jobs.c.ended_ms < self._now_ms() - JOB_KEPT_MS, ~is_shown)
        query = sa.select(jobs.c.id).where(old).limit(BATCH_JOBS)
        while rows := await self._database.rows(query):
            await delete_jobs(self._database, [each.id for each in rows])
