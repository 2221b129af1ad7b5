"""Writes parts of a job's output, as long as its account may store more bytes."""

from typing import Protocol

from msgspec import Struct

from api.common.errors import Conflict
from api.jobs.artifacts import ArtifactProgress, ArtifactStore, RowKey
from api.jobs.store import Job
from api.jobs.worker import PermanentFailure


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
