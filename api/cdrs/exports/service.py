"""Exports: start, progress, download."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Annotated, Literal

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.principal import Principal
from api.cdrs.exports.csv_export import csv_header
from api.cdrs.exports.job import KIND, ExportJob
from api.cdrs.schemas import CallRecordExportRequest, CdrExportQuery
from api.cdrs.service import own_agent, to_filters
from api.cdrs.store import CdrStore
from api.common.errors import Conflict, NotFound
from api.common.timestamps import format_ms
from api.db.database import Database
from api.jobs.artifacts import RETENTION_MS, ArtifactStore, ByteQuota
from api.jobs.store import Job, JobStore
from base.limit import Limit

MAX_WAITING: Annotated[
    int,
    Limit(
        "account",
        "429 `too_many`",
        "Exports of call records, waiting and running; accounts take turns.",
    ),
] = 10
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}


class CallRecordExport(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """An export; `total` is an estimate until it is done."""

    export_id: str
    state: Literal["waiting", "running", "done", "failed"]
    format: Literal["csv", "jsonl"]
    rows: int
    total: int | None
    requested_time: str
    ended_time: str | None = None
    expires_time: str | None = None
    download_path: str | None = None
    error: str | None = None


class ExportService(Struct, frozen=True):
    database: Database
    cdrs: CdrStore
    accounts: AccountCache
    jobs: JobStore
    artifacts: ArtifactStore
    quota: ByteQuota

    async def start(
        self, user: Principal, query: CdrExportQuery, body: CallRecordExportRequest
    ) -> CallRecordExport:
        """Start an export of the records that exist now; raises Conflict beyond the quota."""
        account_id = user.account_id
        await self.quota.check_bytes(account_id, 1)
        filters = to_filters(user, query, await self.accounts.region(account_id))
        filters = msgspec.structs.replace(filters, newest_id=await self.cdrs.newest_id())
        export = ExportJob(filters, query.limit, query.offset, body.format, body.include_timeline)
        async with self.database.writing() as connection:
            payload = msgspec.to_builtins(export)
            job_id = await self.jobs.add(connection, KIND, account_id, payload, MAX_WAITING)
        return await self.get(user, job_id)

    async def get(self, user: Principal, export_id: str) -> CallRecordExport:
        """Return an export; raises NotFound."""
        return _view(await self._job(user, export_id))

    async def download(self, user: Principal, export_id: str) -> tuple[str, AsyncIterator[bytes]]:
        """Return an export's content type and content; raises NotFound or Conflict."""
        job = await self._job(user, export_id)
        if job.state != "done":
            raise Conflict(f"the export is {job.state}", "export_not_done")
        export = msgspec.convert(job.payload, ExportJob)
        return CONTENT_TYPES[export.format], self._content(job.id, export)

    async def _job(self, user: Principal, export_id: str) -> Job:
        agent = own_agent(user)
        job = await self.jobs.get(user.account_id, KIND, export_id)
        if job is None or job.created_ms < self.artifacts.retained_since_ms():
            raise NotFound("no export of this id")
        if agent and msgspec.convert(job.payload, ExportJob).filters.agent_id != agent:
            raise NotFound("no export of this id")
        return job

    async def _content(self, job_id: str, export: ExportJob) -> AsyncIterator[bytes]:
        if export.format == "csv":
            yield csv_header(with_timeline=export.include_timeline)
        async for body in self.artifacts.bodies(job_id):
            yield await asyncio.to_thread(zlib.decompress, body)


def _view(job: Job) -> CallRecordExport:
    done = job.state == "done"
    return CallRecordExport(
        export_id=job.id,
        state=job.state,
        format=job.payload["format"],
        rows=job.done,
        total=job.done if done else job.total,
        requested_time=format_ms(job.created_ms),
        ended_time=format_ms(job.ended_ms) if job.ended_ms else None,
        expires_time=format_ms(job.created_ms + RETENTION_MS) if done else None,
        download_path=f"/srmain/cdr/exports/{job.id}/download" if done else None,
        error=job.error,
    )
