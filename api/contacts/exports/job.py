"""The background job that writes a list's contacts to a file, and sends it if requested.

CSV is written in parts; a job that is interrupted is resumed after the last part. A workbook is
written from the start. The file has the contacts that the list has while it is written.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
from msgspec import Struct

from api.common.csv_injection import encode_escaped_csv
from api.common.errors import NotFound
from api.contacts.contacts.store import Contact, ContactStore
from api.contacts.exports.email import ExportMailer
from api.contacts.exports.writers import Workbook, contact_rows, header_row
from api.contacts.list_store import ContactList, ListStore
from api.jobs.artifacts import ArtifactProgress, ArtifactStore, ArtifactWriter
from api.jobs.store import Job
from api.jobs.worker import PermanentFailure, Progress

KIND = "contact-download"
PART_ROWS = 5_000
FEW_ROWS = 50
CHUNK_BYTES = 1_048_576
COMPRESSION_LEVEL = 1  # a higher one takes time, and saves little
Format = Literal["csv", "xlsx"]


class DownloadJob(Struct, frozen=True):
    """The list to export, the format, and the e-mail address, if any."""

    list_id: int
    list_name: str
    fields: tuple[str, ...]
    format: Format
    email: str | None = None


class ContactExporter(Struct, frozen=True):
    contacts: ContactStore
    lists: ListStore
    artifacts: ArtifactStore
    writer: ArtifactWriter
    mailer: ExportMailer | None

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Write the rest of a file, then send it; raises PermanentFailure or RetryableFailure."""
        spec = msgspec.convert(job.payload, DownloadJob)
        await self.artifacts.delete_expired()
        total = (await self._list(job, spec)).contacts
        rows = (
            await self._write_csv(job, spec, total, progress)
            if spec.format == "csv"
            else await self._write_workbook(job, spec, total, progress)
        )
        await self._list(job, spec)  # it may have been deleted meanwhile
        if spec.email:
            if self.mailer is None:
                raise PermanentFailure("the mail server is no longer configured")
            content = self.content(job.id, spec)
            await self.mailer.send(job.id, spec.list_name, spec.email, content)
        return {"rows": rows}

    async def content(self, job_id: str, spec: DownloadJob) -> AsyncIterator[bytes]:
        """Yield the content of a written file."""
        if spec.format == "csv":
            yield encode_escaped_csv([header_row(spec.fields)])
        async for body in self.artifacts.bodies(job_id):
            yield await asyncio.to_thread(zlib.decompress, body) if spec.format == "csv" else body

    async def _write_csv(self, job: Job, spec: DownloadJob, total: int, progress: Progress) -> int:
        written = await self.artifacts.progress(job.id)
        await progress(written.rows, max(total, written.rows))
        async for contacts in self._parts(spec, written.after[1] if written.after else 0):
            body = await asyncio.to_thread(_compressed_csv, contacts, spec.fields)
            position = (spec.list_id, contacts[-1].id)
            written = await self.writer.add(job, written, len(contacts), position, body)
            await progress(written.rows, max(total, written.rows))
        return written.rows

    async def _write_workbook(
        self, job: Job, spec: DownloadJob, total: int, progress: Progress
    ) -> int:
        await self.artifacts.clear(job.id)
        rows = 0
        with TemporaryDirectory(prefix="switchroom-") as folder:
            path = Path(folder) / "contacts.xlsx"
            workbook = Workbook(path, header_row(spec.fields))
            async for contacts in self._parts(spec, 0):
                await asyncio.to_thread(_add_rows, workbook, contacts, spec.fields)
                rows += len(contacts)
                await progress(rows, max(total, rows))
            await asyncio.to_thread(workbook.close)
            await self._store(job, path)
        return rows

    async def _store(self, job: Job, path: Path) -> None:
        written = ArtifactProgress()
        with path.open("rb") as file:
            while body := await asyncio.to_thread(file.read, CHUNK_BYTES):
                written = await self.writer.add(job, written, 0, (0, 0), body)

    async def _parts(self, spec: DownloadJob, after: int) -> AsyncIterator[list[Contact]]:
        """Yield a list's contacts after an id.

        The database measures each row that it is asked for, and a part of large ones has few.
        """
        limit = FEW_ROWS
        while contacts := await self.contacts.after(spec.list_id, after, limit):
            yield contacts
            after = contacts[-1].id
            limit = min(max(2 * len(contacts), FEW_ROWS), PART_ROWS)

    async def _list(self, job: Job, spec: DownloadJob) -> ContactList:
        try:
            return await self.lists.get(job.account_id, spec.list_id)
        except NotFound:
            raise PermanentFailure("the contact list was deleted") from None


def _add_rows(workbook: Workbook, contacts: list[Contact], fields: tuple[str, ...]) -> None:
    workbook.add(contact_rows(contacts, fields))


def _compressed_csv(contacts: list[Contact], fields: tuple[str, ...]) -> bytes:
    return zlib.compress(encode_escaped_csv(contact_rows(contacts, fields)), COMPRESSION_LEVEL)
