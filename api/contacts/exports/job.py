"""The job that makes a file of a list's contacts, and sends it if that was asked for.

CSV is made part by part: killed in the middle, it is taken up after the last part. A workbook is
one whole, and is begun again. What the file holds is what the list has while it is made.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import msgspec
from msgspec import Struct

from api.common.errors import NotFound
from api.common.mail import MailServer
from api.contacts.contacts.contact import Contact
from api.contacts.contacts.store import ContactStore
from api.contacts.exports.email import ExportMailer
from api.contacts.exports.writers import Workbook, contact_rows, csv_lines, header_row
from api.contacts.list_store import ContactList, ListStore
from api.jobs.artifacts import ArtifactProgress, ArtifactStore
from api.jobs.store import Job
from api.jobs.worker import PermanentFailure, Progress

KIND = "contact-download"
PART_ROWS = 5_000
CHUNK = 1_048_576
LEVEL = 1  # of compression: more would only take time
Format = Literal["csv", "xlsx"]


class DownloadJob(Struct, frozen=True):
    """Which list's contacts, as what, and where they are sent."""

    list_id: int
    list_name: str
    fields: tuple[str, ...]
    format: Format
    email: str | None = None


class ContactExporter:
    """Does downloads."""

    def __init__(
        self, people: ContactStore, lists: ListStore, parts: ArtifactStore, mail: MailServer | None
    ) -> None:
        self._contacts = people
        self._lists = lists
        self._parts = parts
        self._mailer = ExportMailer(mail) if mail else None

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Make what is missing of a file; then send it."""
        asked = msgspec.convert(job.payload, DownloadJob)
        await self._parts.delete_expired()
        total = (await self._list(job, asked)).contacts
        made = (
            await self._csv(job, asked, total, progress)
            if asked.format == "csv"
            else await self._book(job, asked, total, progress)
        )
        await self._list(job, asked)  # it was there to the end
        if asked.email:
            if self._mailer is None:
                raise PermanentFailure("there is no mail server any more")
            content = self.content(job.id, asked)
            await self._mailer.send(job.id, asked.list_name, asked.email, content)
        return {"rows": made}

    async def content(self, job_id: str, asked: DownloadJob) -> AsyncIterator[bytes]:
        """Give a file that is made."""
        if asked.format == "csv":
            yield csv_lines([header_row(asked.fields)])
        async for body in self._parts.bodies(job_id):
            yield zlib.decompress(body) if asked.format == "csv" else body

    async def _csv(self, job: Job, asked: DownloadJob, total: int, progress: Progress) -> int:
        made = await self._parts.progress(job.id)
        await progress(made.rows, max(total, made.rows))
        while found := await self._next(asked, made.after[1] if made.after else 0):
            body = await asyncio.to_thread(_part, found, asked.fields)
            place = (asked.list_id, found[-1].id)
            made = await self._parts.add(job.id, made, len(found), place, body)
            await progress(made.rows, max(total, made.rows))
        return made.rows

    async def _book(self, job: Job, asked: DownloadJob, total: int, progress: Progress) -> int:
        await self._parts.clear(job.id)
        rows = after = 0
        with TemporaryDirectory(prefix="switchroom-") as folder:
            path = Path(folder) / "contacts.xlsx"
            book = Workbook(path, header_row(asked.fields))
            while found := await self._next(asked, after):
                await asyncio.to_thread(book.add, contact_rows(found, asked.fields))
                rows, after = rows + len(found), found[-1].id
                await progress(rows, max(total, rows))
            await asyncio.to_thread(book.close)
            await self._keep(job.id, path)
        return rows

    async def _keep(self, job_id: str, path: Path) -> None:
        made = ArtifactProgress()
        with path.open("rb") as file:
            while body := await asyncio.to_thread(file.read, CHUNK):
                made = await self._parts.add(job_id, made, 0, (0, 0), body)

    async def _next(self, asked: DownloadJob, after: int) -> list[Contact]:
        return await self._contacts.after(asked.list_id, after, PART_ROWS)

    async def _list(self, job: Job, asked: DownloadJob) -> ContactList:
        try:
            return await self._lists.get(job.account_id, asked.list_id)
        except NotFound:
            raise PermanentFailure("the contact list was deleted") from None


def _part(found: list[Contact], fields: tuple[str, ...]) -> bytes:
    return zlib.compress(csv_lines(contact_rows(found, fields)), LEVEL)
