"""An export: a background job that makes a file of records, part by part.

A part is kept in the transaction that says how far the export is. Killed in the middle, it is taken
up after the last part; and what it holds at once is one part, whatever the export has.
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
from api.jobs.artifacts import ArtifactProgress, ArtifactStore
from api.jobs.store import Job
from api.jobs.worker import Progress

KIND = "cdr-export"
PART_ROWS = 5_000
COMPRESSION_LEVEL = 1  # of compression: CSV shrinks to an eighth, and more would only take time


class ExportJob(Struct, frozen=True, omit_defaults=True):
    """What is exported, and how."""

    filters: Filters
    limit: int
    offset: int
    format: Literal["csv", "jsonl"]
    include_timeline: bool


class CdrExporter:
    """Does exports."""

    def __init__(self, cdrs: CdrStore, parts: ArtifactStore) -> None:
        self._cdrs = cdrs
        self._parts = parts

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Make what is missing of an export."""
        asked = msgspec.convert(job.payload, ExportJob)
        await self._parts.delete_expired()
        made = await self._parts.progress(job.id)
        total = await self._total(asked)
        await progress(made.rows, total)
        while rows := await self._next(asked, made):
            body = await self._compress(asked, rows)
            made = await self._parts.add(job.id, made, len(rows), rows[-1].position, body)
            await progress(made.rows, max(total, made.rows))
        return {"rows": made.rows, "parts": made.parts}

    async def _total(self, asked: ExportJob) -> int:
        """Estimate how many rows it will have; at least so many."""
        counted = (await self._cdrs.total(asked.filters)).count
        return max(0, min(asked.limit, counted - asked.offset))

    async def _next(self, asked: ExportJob, made: ArtifactProgress) -> list[CdrRow]:
        limit = min(PART_ROWS, asked.limit - made.rows)
        if limit <= 0:
            return []
        offset = asked.offset if made.after is None else 0
        return await self._cdrs.page(asked.filters, limit, offset, made.after)

    async def _compress(self, asked: ExportJob, rows: list[CdrRow]) -> bytes:
        timelines: dict[str, list[bytes]] = {}
        if asked.include_timeline:
            ids = [row.req_id for row in rows]
            timelines = await self._cdrs.timelines(asked.filters.account_id, ids)
        return await asyncio.to_thread(_written, asked, rows, timelines)


def _written(asked: ExportJob, rows: list[CdrRow], timelines: dict[str, list[bytes]]) -> bytes:
    shown = [
        cdr_view(row, timelines.get(row.req_id, []) if asked.include_timeline else None)
        for row in rows
    ]
    lines = csv_lines if asked.format == "csv" else json_lines
    return zlib.compress(lines(shown), COMPRESSION_LEVEL)
