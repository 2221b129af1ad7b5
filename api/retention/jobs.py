"""Removes a person from background jobs, and an account's downloads, which are jobs with files."""

from collections.abc import Iterable

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from api.cdrs.exports import KIND as CALL_RECORDS
from api.contacts.exports.job import KIND as CONTACTS
from api.contacts.exports.store import delete_jobs
from api.db.database import Database
from api.jobs.store import jobs
from wire.erasure import NumberMatcher

DOWNLOADS = (CALL_RECORDS, CONTACTS)


class JobErasure(Struct, frozen=True):
    database: Database

    async def ended(self, account_id: str) -> frozenset[str]:
        """Return the ids of an account's jobs that have ended."""
        query = sa.select(jobs.c.id).where(*_has_ended(account_id))
        return frozenset(job_id for (job_id,) in await self.database.rows(query))

    async def count_others(self, account_id: str, ended: frozenset[str]) -> int:
        """Count the jobs that had not ended: they may have read or written the person since."""
        query = sa.select(jobs.c.id).where(jobs.c.account_id == account_id)
        return sum(job_id not in ended for (job_id,) in await self.database.rows(query))

    async def erase(self, account_id: str, matcher: NumberMatcher) -> int:
        """Remove what jobs that have ended were asked and have answered.

        Downloads are deleted: what they were asked is part of each answer about them.
        """
        columns = (jobs.c.id, jobs.c.kind, jobs.c.payload, jobs.c.result)
        query = sa.select(*columns).where(*_has_ended(account_id))
        found = [
            (job_id, kind)
            for job_id, kind, *texts in await self.database.rows(query)
            if matcher.is_in_json(msgspec.json.encode(texts))
        ]
        await self._delete(job_id for job_id, kind in found if kind in DOWNLOADS)
        for job_id in (job_id for job_id, kind in found if kind not in DOWNLOADS):
            change = sa.update(jobs).where(jobs.c.id == job_id)
            await self.database.execute(change.values(payload={}, result=None))
        return len(found)

    async def erase_downloads(self, account_id: str) -> int:
        """Delete the downloads that have ended, with their jobs, as those that have expired."""
        is_download = jobs.c.kind.in_(DOWNLOADS)
        query = sa.select(jobs.c.id).where(is_download, *_has_ended(account_id))
        found = [job_id for (job_id,) in await self.database.rows(query)]
        await self._delete(found)
        return len(found)

    async def _delete(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            await delete_jobs(self.database, [job_id])


def _has_ended(account_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return jobs.c.account_id == account_id, jobs.c.ended_ms.is_not(None)
