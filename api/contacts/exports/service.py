"""Downloads as customers see them: asked for, watched, fetched."""

from collections.abc import AsyncIterator
from typing import Literal

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.common.errors import Conflict, NotFound, ServiceUnavailable
from api.common.timestamps import format_ms
from api.contacts.exports.job import KIND, ContactExporter, DownloadJob, Format
from api.contacts.exports.schemas import DownloadBody
from api.contacts.exports.store import add_download
from api.contacts.ids import read_id
from api.contacts.list_store import ContactList, ListStore
from api.db.database import Database
from api.http.paging import Page
from api.jobs.artifacts import RETENTION_MS, ArtifactStore
from api.jobs.store import Job, JobStore
from wire.errors import BadInput

PATH = "/srmain/contacts_list/download-requests"
MAX_WAITING = 10  # of one account
CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class DownloadView(Struct, frozen=True, rename="camel"):
    """A download as it stands; `total` is an estimate until it is done."""

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
    email: str | None  # where it is sent
    error: str | None  # why it failed, or why it is tried again


class DownloadPage(Struct, frozen=True, rename="camel"):
    """A page of the downloads of the last week, newest first."""

    data: tuple[DownloadView, ...]
    total: int
    limit: int
    offset: int


class DownloadService:
    """One method a request, each about one account."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        database: Database,
        lists: ListStore,
        jobs: JobStore,
        parts: ArtifactStore,
        maker: ContactExporter,
        *,
        known: AccountCache,
        can_mail: bool,
    ) -> None:
        self._database = database
        self._lists = lists
        self._jobs = jobs
        self._parts = parts
        self._maker = maker
        self._known = known
        self._can_mail = can_mail

    async def start(self, account_id: str, body: DownloadBody) -> DownloadView:
        """Ask for a file of a list's contacts."""
        try:
            found = await self._lists.get(account_id, read_id(body.list_id, "contact list"))
        except NotFound:
            raise BadInput("contactListId", "no contact list of this id") from None
        return await self._started(account_id, found, body.format, None)

    async def send(self, account_id: str, list_id: str) -> DownloadView:
        """Ask for a file to be sent to the account's address."""
        found = await self._lists.get(account_id, read_id(list_id, "contact list"))
        if not self._can_mail:
            raise ServiceUnavailable("no mail server is set up here", "no_mail_server")
        email = (await self._known.get(account_id)).account.email
        if email is None:
            raise Conflict("the account has no e-mail address", "no_email")
        return await self._started(account_id, found, "csv", email)

    async def listed(self, account_id: str, page: Page) -> DownloadPage:
        """Give a page of the account's downloads."""
        since_ms = self._parts.retained_since_ms()
        found, total = await self._jobs.page(account_id, KIND, since_ms, page.limit, page.offset)
        return DownloadPage(tuple(map(_view, found)), total, page.limit, page.offset)

    async def get(self, account_id: str, download_id: str) -> DownloadView:
        """Tell how far a download is; raises NotFound."""
        return _view(await self._job(account_id, download_id))

    async def content(
        self, account_id: str, download_id: str
    ) -> tuple[Format, AsyncIterator[bytes]]:
        """Give a file; raises NotFound, or Conflict until it is made."""
        job = await self._job(account_id, download_id)
        if job.state != "done":
            raise Conflict(f"the download is {job.state}", "download_not_done")
        asked = msgspec.convert(job.payload, DownloadJob)
        return asked.format, self._maker.content(job.id, asked)

    async def _started(
        self, account_id: str, found: ContactList, kind: Format, email: str | None
    ) -> DownloadView:
        asked = DownloadJob(found.id, found.name, found.assigned_fields, kind, email)
        async with self._database.writing() as connection:
            payload = msgspec.to_builtins(asked)
            job_id = await self._jobs.add(connection, KIND, account_id, payload, MAX_WAITING)
            await add_download(connection, job_id, found.id)
        return await self.get(account_id, job_id)

    async def _job(self, account_id: str, download_id: str) -> Job:
        job = await self._jobs.get(account_id, KIND, download_id)
        if job is None or job.created_ms < self._parts.retained_since_ms():
            raise NotFound("no download of this id")
        return job


def _view(job: Job) -> DownloadView:
    done = job.state == "done"
    return DownloadView(
        id=job.id,
        contact_list_id=str(job.payload["list_id"]),
        contact_list_name=job.payload["list_name"],
        format=job.payload["format"],
        state=job.state,
        rows=job.done,
        total=job.done if done else job.total,
        requested_time=format_ms(job.created_ms),
        ended_time=format_ms(job.ended_ms) if job.ended_ms else None,
        expires_time=format_ms(job.created_ms + RETENTION_MS) if done else None,
        download_path=f"{PATH}/{job.id}/download" if done else None,
        email=job.payload["email"],
        error=job.error,
    )
