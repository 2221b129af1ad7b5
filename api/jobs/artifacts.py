"""The output of a job, stored in parts, so that another process can continue after the last one.

Each part is compressed, and stored with the key of its last row: the key that the rows are ordered
by, and an id.
"""

from collections.abc import AsyncIterator
from typing import Protocol

import sqlalchemy as sa
from msgspec import Struct

from api.common.errors import Conflict
from api.db.columns import Key, Millis
from api.db.database import Store, metadata
from api.jobs.store import Job, LeaseLost, jobs
from api.jobs.worker import PermanentFailure

RETENTION_MS = 7 * 86_400_000
RowKey = tuple[int, int]

job_parts = sa.Table(
    "job_parts",
    metadata,
    sa.Column("job_id", sa.ForeignKey(jobs.c.id), primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("rows", sa.Integer, nullable=False),
    sa.Column("last_key", sa.BigInteger, nullable=False),
    sa.Column("last_id", Key, nullable=False),
    sa.Column("made_ms", Millis, nullable=False, index=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)


class ArtifactDeleted(Exception):
    """The parts were deleted while they were read: half of them must not pass for the whole."""


class ArtifactProgress(Struct, frozen=True):
    """The number of parts and rows that are stored, and the key of the last row."""

    parts: int = 0
    rows: int = 0
    after: RowKey | None = None


class ArtifactStore(Store):
    async def progress(self, job_id: str) -> ArtifactProgress:
        is_its = job_parts.c.job_id == job_id
        total = sa.select(sa.func.coalesce(sa.func.sum(job_parts.c.rows), 0)).where(is_its)
        last = (
            sa.select(job_parts.c.part, job_parts.c.last_key, job_parts.c.last_id)
            .where(is_its)
            .order_by(job_parts.c.part.desc())
            .limit(1)
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(last)).first()
            rows = (await connection.execute(total)).scalar_one()
        return (
            ArtifactProgress(row[0] + 1, int(rows), (row[1], row[2])) if row else ArtifactProgress()
        )

    async def add(
        self, job_id: str, progress: ArtifactProgress, rows: int, after: RowKey, body: bytes
    ) -> ArtifactProgress:
        """Store the next part; raises LeaseLost if another process has stored it.

        Its part may end with another row: continuing after ours would skip rows.
        """
        row = {
            "job_id": job_id,
            "part": progress.parts,
            "rows": rows,
            "last_key": after[0],
            "last_id": after[1],
            "made_ms": self._now_ms(),
            "body": body,
        }
        insert = self._database.insert(job_parts).on_conflict_do_nothing()
        if not await self._database.execute(insert.values(row)):
            raise LeaseLost(job_id)
        return ArtifactProgress(progress.parts + 1, progress.rows + rows, after)

    async def clear(self, job_id: str) -> None:
        """Delete the parts of a job that cannot continue in the middle."""
        await self._database.delete(job_parts, job_parts.c.job_id == job_id)

    async def bodies(self, job_id: str) -> AsyncIterator[bytes]:
        """Yield the parts in order; raises ArtifactDeleted if they are deleted meanwhile."""
        parts = (await self.progress(job_id)).parts
        if not parts and not await self._has_output(job_id):
            raise ArtifactDeleted(job_id)
        for part in range(parts):
            query = sa.select(job_parts.c.body).join(jobs, jobs.c.id == job_parts.c.job_id)
            is_this = sa.and_(job_parts.c.job_id == job_id, job_parts.c.part == part)
            body = await self._database.scalar(query.where(is_this, jobs.c.state != "failed"))
            if body is None:
                raise ArtifactDeleted(job_id)
            yield body

    async def _has_output(self, job_id: str) -> bool:
        """Return whether a job without parts has written nothing, rather than lost its parts."""
        query = sa.select(jobs.c.id).where(jobs.c.id == job_id, jobs.c.state != "failed")
        return await self._database.scalar(query) is not None

    def retained_since_ms(self) -> int:
        """Return the creation time of the oldest jobs whose parts are retained."""
        return self._now_ms() - RETENTION_MS

    async def delete_expired(self) -> None:
        """Delete old parts, and those of jobs that were cancelled or have failed."""
        is_old = job_parts.c.made_ms < self.retained_since_ms()
        failed = sa.select(jobs.c.id).where(jobs.c.state == "failed")
        is_useless = sa.or_(is_old, job_parts.c.job_id.in_(failed))
        await self._database.delete(job_parts, is_useless)


class ByteQuota(Protocol):
    async def check_bytes(self, account_id: str, more: int) -> None:
        """Check that an account may store so many more bytes; raises Conflict."""


class ArtifactWriter(Struct, frozen=True):
    artifacts: ArtifactStore
    quota: ByteQuota

    async def add(
        self, job: Job, progress: ArtifactProgress, rows: int, after: RowKey, body: bytes
    ) -> ArtifactProgress:
        """Store the next part; raises LeaseLost, or PermanentFailure beyond the quota.

        The parts of a job that failed cannot be read: they are deleted, and no longer count.
        """
        try:
            await self.quota.check_bytes(job.account_id, len(body))
        except Conflict as error:
            await self.artifacts.clear(job.id)
            raise PermanentFailure(error.detail) from None
        return await self.artifacts.add(job.id, progress, rows, after, body)
