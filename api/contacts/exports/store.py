"""The exports of each list, so that they are deleted with it."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.tables import lists
from api.db.database import metadata
from api.jobs.artifacts import job_parts
from api.jobs.tables import jobs

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
