"""The background job that writes an export in parts.

A part and the progress of the export are one transaction, so a killed job continues after the last
part. Only one part is in memory at a time.
"""

import asyncio
import zlib
from typing import Any, Literal

import msgspec
from msgspec import Struct

from api.cdrs.exports.csv_export import csv_lines, json_lines
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRow
from api.cdrs.store import CdrStore
from api.cdrs.views import cdr_view
from api.jobs.artifacts import ArtifactProgress, ArtifactStore, ArtifactWriter
from api.jobs.store import Job
from api.jobs.worker import Progress

KIND = "cdr-export"
PART_ROWS = 5_000
COMPRESSION_LEVEL = 1  # CSV shrinks to an eighth; a higher level only takes more time


class ExportJob(Struct, frozen=True, omit_defaults=True):
    """The payload of an export job."""

    filters: Filters
    limit: int
    offset: int
    format: Literal["csv", "jsonl"]
    include_timeline: bool


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
