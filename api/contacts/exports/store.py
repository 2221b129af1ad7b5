"""The exports of each list, so that they are deleted with it, and the end of all old jobs."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import imports, lists
from api.db.database import Store, metadata
from api.jobs.artifacts import job_parts
from api.jobs.store import jobs

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


async def delete_downloads(connection: AsyncConnection, list_id: int) -> None:
    """Delete a list's exports, their files and jobs, within a transaction."""
    query = sa.select(downloads.c.job_id).where(downloads.c.list_id == list_id)
    await delete_jobs(connection, list((await connection.execute(query)).scalars()))


async def delete_jobs(connection: AsyncConnection, ids: Sequence[str]) -> None:
    """Delete jobs that write files, and the files, within a transaction."""
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
            async with self._database.writing() as connection:
                await delete_jobs(connection, [each.id for each in rows])
