"""Exports of call records: start, progress and download, as CSV or JSON lines.

A background job writes an export in parts. A part and the progress of the export are one
transaction, so a killed job continues after the last part. Only one part is in memory at a time.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.auth.principal import Principal
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRow
from api.cdrs.schemas import CallRecordExportRequest, CdrExportQuery, own_agent, to_filters
from api.cdrs.store import CdrStore
from api.cdrs.views import CdrView, cdr_view
from api.common.csv_injection import encode_csv, escape_formula
from api.common.errors import Conflict, NotFound
from api.common.timestamps import format_ms
from api.db.database import Database
from api.jobs.artifacts import (
    RETENTION_MS,
    ArtifactProgress,
    ArtifactStore,
    ArtifactWriter,
    ByteQuota,
)
from api.jobs.store import Job, JobStore
from api.jobs.worker import Progress
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
KIND = "cdr-export"
PART_ROWS = 5_000
COMPRESSION_LEVEL = 1  # CSV shrinks to an eighth; a higher level only takes more time
SPACE = " "
TIMELINE = "timeline"


class ExportJob(Struct, frozen=True, omit_defaults=True):
    """The payload of an export job."""

    filters: Filters
    limit: int
    offset: int
    format: Literal["csv", "jsonl"]
    include_timeline: bool


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


class CdrExporter(Struct, frozen=True):
    cdrs: CdrStore
    artifacts: ArtifactStore
    writer: ArtifactWriter

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Write the missing parts of an export."""
        export = msgspec.convert(job.payload, ExportJob)
        await self.artifacts.delete_expired()
        stored = await self.artifacts.progress(job.id)
        total = await self._total(export)
        await progress(stored.rows, total)
        while rows := await self._next(export, stored):
            body = await self._compress(export, rows)
            stored = await self.writer.add(job, stored, len(rows), rows[-1].position, body)
            await progress(stored.rows, max(total, stored.rows))
        return {"rows": stored.rows, "parts": stored.parts}

    async def _total(self, export: ExportJob) -> int:
        """Estimate the number of rows; a lower bound."""
        counted = (await self.cdrs.total(export.filters)).count
        return max(0, min(export.limit, counted - export.offset))

    async def _next(self, export: ExportJob, stored: ArtifactProgress) -> list[CdrRow]:
        limit = min(PART_ROWS, export.limit - stored.rows)
        if limit <= 0:
            return []
        offset = export.offset if stored.after is None else 0
        return (await self.cdrs.page(export.filters, limit, offset, stored.after)).rows

    async def _compress(self, export: ExportJob, rows: list[CdrRow]) -> bytes:
        timelines: dict[str, list[bytes]] = {}
        if export.include_timeline:
            ids = [row.req_id for row in rows]
            timelines = await self.cdrs.timelines(export.filters.account_id, ids)
        return await asyncio.to_thread(_encode, export, rows, timelines)


def _encode(export: ExportJob, rows: list[CdrRow], timelines: dict[str, list[bytes]]) -> bytes:
    views = [
        cdr_view(row, timelines.get(row.req_id, []) if export.include_timeline else None)
        for row in rows
    ]
    lines = csv_lines if export.format == "csv" else json_lines
    return zlib.compress(lines(views), COMPRESSION_LEVEL)


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


COLUMNS: Mapping[str, Callable[[CdrView], Any]] = {
    "reqId": lambda cdr: cdr.req_id,
    "startTime": lambda cdr: cdr.start_time,
    "answerTime": lambda cdr: cdr.answer_time,
    "endTime": lambda cdr: cdr.end_time,
    "direction": lambda cdr: cdr.direction,
    "callPath": lambda cdr: cdr.call_path,
    "obdType": lambda cdr: cdr.obd_type,
    "clientId": lambda cdr: cdr.client_id,
    "from": lambda cdr: cdr.from_,
    "callerId": lambda cdr: cdr.caller_id,
    "callerName": lambda cdr: cdr.caller_name,
    "privacy": lambda cdr: "true" if cdr.privacy else "false",  # as in JSON
    "divertedFrom": lambda cdr: SPACE.join(each.number for each in cdr.diversion),
    "toNumber": lambda cdr: cdr.to_number,
    "dialedNumbers": lambda cdr: SPACE.join(cdr.dialed_numbers),
    "status": lambda cdr: cdr.status,
    "answerStatus": lambda cdr: cdr.answer_status,
    "ringMs": lambda cdr: cdr.ring_ms,
    "talkMs": lambda cdr: cdr.talk_ms,
    "holdMs": lambda cdr: cdr.hold_ms,
    "durationMs": lambda cdr: cdr.duration_ms,
    "waitMs": lambda cdr: cdr.wait_ms,
    "answeredDurationMs": lambda cdr: cdr.answered_duration_ms or None,
    "answeredDuration": lambda cdr: cdr.answered_duration or None,
    "agentIds": lambda cdr: ", ".join(each.agent_id for each in cdr.agents),
    "agentNames": lambda cdr: ", ".join(each.agent_name for each in cdr.agents),
    "dispositionLevel1Id": lambda cdr: cdr.disposition_level1_id,
    "dispositionLevel2Id": lambda cdr: cdr.disposition_level2_id,
    "dispositionLevel3Id": lambda cdr: cdr.disposition_level3_id,
    "hangupCause": lambda cdr: cdr.hangup_cause,
    "sipCode": lambda cdr: cdr.sip_code,
    "endedBy": lambda cdr: cdr.ended_by,
    "reason": lambda cdr: cdr.reason,
    "answeredBy": lambda cdr: cdr.answered_by,
    "recordingPurpose": lambda cdr: cdr.recording_purpose,
    "recordingUrls": lambda cdr: SPACE.join(each.url for each in cdr.recordings),
    "customData": lambda cdr: _json(cdr.custom_data),
}


def csv_header(*, with_timeline: bool) -> bytes:
    """Return the header line."""
    return encode_csv([[*COLUMNS, *([TIMELINE] if with_timeline else [])]])


def csv_lines(cdrs: Sequence[CdrView]) -> bytes:
    """Return one line per record; the timeline is JSON."""
    return encode_csv([_cells(cdr) for cdr in cdrs])


def json_lines(cdrs: Sequence[CdrView]) -> bytes:
    """Return one line of JSON per record."""
    return b"".join(msgspec.json.encode(cdr) + b"\n" for cdr in cdrs)


def _cells(cdr: CdrView) -> list[Any]:
    cells = [escape_formula(cell_of(cdr)) for cell_of in COLUMNS.values()]
    return cells if cdr.timeline is None else [*cells, escape_formula(_json(cdr.timeline))]
