"""Operations on downloads."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct, field

from api.accounts.cache import AccountCache
from api.common.errors import Conflict, NotFound, ServiceUnavailable
from api.common.timestamps import format_ms
from api.contacts.exports.job import KIND, ContactExporter, DownloadJob, Format
from api.contacts.exports.store import add_download
from api.contacts.ids import parse_id
from api.contacts.list_store import ContactList, ListStore
from api.db.database import Database
from api.http.paging import Page
from api.jobs.artifacts import RETENTION_MS, ArtifactStore, ByteQuota
from api.jobs.store import Job, JobStore
from base.limit import Limit
from wire.decoding.errors import BadInput

PATH = "/srmain/contacts_list/download-requests"
MAX_WAITING: Annotated[
    int,
    Limit(
        "account",
        "429 `too_many`",
        "Exports of contacts, waiting and running; accounts take turns.",
    ),
] = 10
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class ContactDownloadRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The list to export, by default the default list, and the format."""

    list_id: Annotated[str, Meta(min_length=1, max_length=32)] | None = field(
        name="contactListId", default=None
    )
    format: Literal["csv", "xlsx"] = "csv"


class ContactDownload(Struct, frozen=True, rename="camel"):
    """A download; `total` is an estimate until it is done."""

    id: str
    contact_list_id: str
    contact_list_name: str
    format: Format
    state: Literal["waiting", "running", "done", "failed"]
    rows: int
    total: int | None
    requested_time: str
    ended_time: str | None
    expires_time: str | None
    download_path: str | None
    email: str | None  # the address it is sent to
    error: str | None  # why it failed, or is retried


class ContactDownloadPage(Struct, frozen=True, rename="camel"):
    """A page of the downloads of the last week, newest first."""

    data: tuple[ContactDownload, ...]
    total: int
    limit: int
    offset: int


class DownloadService(Struct, frozen=True):
    """Starts downloads, shows their progress, returns their content."""

    database: Database
    lists: ListStore
    jobs: JobStore
    artifacts: ArtifactStore
    exporter: ContactExporter
    accounts: AccountCache
    can_mail: bool
    quota: ByteQuota

    async def start(self, account_id: str, body: ContactDownloadRequest) -> ContactDownload:
        """Start a download; raises BadInput, or Conflict beyond the quota."""
        try:
            contact_list = await self._requested_list(account_id, body.list_id)
        except NotFound as error:
            raise BadInput("contactListId", error.detail) from None
        return await self._start(account_id, contact_list, body.format, None)

    async def _requested_list(self, account_id: str, list_id: str | None) -> ContactList:
        if list_id is None:
            return await self.lists.default(account_id)
        return await self.lists.get(account_id, parse_id(list_id, "contact list"))

    async def send(self, account_id: str, list_id: str) -> ContactDownload:
        """Start an export that is sent to the account's e-mail address."""
        contact_list = await self.lists.get(account_id, parse_id(list_id, "contact list"))
        if not self.can_mail:
            raise ServiceUnavailable("no mail server is configured", "no_mail_server")
        email = (await self.accounts.get(account_id)).account.email
        if email is None:
            raise Conflict("the account has no e-mail address", "no_email")
        return await self._start(account_id, contact_list, "csv", email)

    async def list(self, account_id: str, page: Page) -> ContactDownloadPage:
        """Return a page of the account's downloads."""
        since_ms = self.artifacts.retained_since_ms()
        jobs, total = await self.jobs.page(account_id, KIND, since_ms, page.limit, page.offset)
        return ContactDownloadPage(tuple(map(_view, jobs)), total, page.limit, page.offset)

    async def get(self, account_id: str, download_id: str) -> ContactDownload:
        """Return a download's progress; raises NotFound."""
        return _view(await self._job(account_id, download_id))

    async def content(
        self, account_id: str, download_id: str
    ) -> tuple[Format, AsyncIterator[bytes]]:
        """Return a file's format and content; raises NotFound, or Conflict until it is written."""
        job = await self._job(account_id, download_id)
        if job.state != "done":
            raise Conflict(f"the download is {job.state}", "download_not_done")
        spec = msgspec.convert(job.payload, DownloadJob)
        return spec.format, self.exporter.content(job.id, spec)

    async def _start(
        self, account_id: str, contact_list: ContactList, kind: Format, email: str | None
    ) -> ContactDownload:
        await self.quota.check_bytes(account_id, 1)
        spec = DownloadJob(
            contact_list.id, contact_list.name, contact_list.assigned_fields, kind, email
        )
        async with self.database.writing() as connection:
            payload = msgspec.to_builtins(spec)
            job_id = await self.jobs.add(connection, KIND, account_id, payload, MAX_WAITING)
            await add_download(connection, job_id, contact_list.id)
        return await self.get(account_id, job_id)

    async def _job(self, account_id: str, download_id: str) -> Job:
        job = await self.jobs.get(account_id, KIND, download_id)
        if job is None or job.created_ms < self.artifacts.retained_since_ms():
            raise NotFound("no download of this id")
        return job


def _view(job: Job) -> ContactDownload:
    is_done = job.state == "done"
    return ContactDownload(
        id=job.id,
        contact_list_id=str(job.payload["list_id"]),
        contact_list_name=job.payload["list_name"],
        format=job.payload["format"],
        state=job.state,
        rows=job.done,
        total=job.done if is_done else job.total,
        requested_time=format_ms(job.created_ms),
        ended_time=format_ms(job.ended_ms) if job.ended_ms else None,
        expires_time=format_ms(job.created_ms + RETENTION_MS) if is_done else None,
        download_path=f"{PATH}/{job.id}/download" if is_done else None,
        email=job.payload["email"],
        error=job.error,
    )
