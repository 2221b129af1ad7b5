"""Operations on contact lists."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import UNSET, Struct
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.datastructures import UploadFile

from api.common.account_concurrency import LimitedSlots
from api.common.errors import Conflict, NotFound
from api.contacts.exports.store import cancel_downloads, delete_downloads
from api.contacts.imports.file_store import FileStore, ListFile
from api.contacts.imports.service import check_mappings, likely_mappings, rejected_csv
from api.contacts.imports.store import ImportStore
from api.contacts.imports.uploads import UploadService
from api.contacts.list_store import ContactList, ListFilters, ListStore
from api.contacts.lists.schemas import (
    ChangeData,
    InboundListRequest,
    ListQuery,
    UploadData,
    own_fields,
)
from api.contacts.lists.views import (
    ContactListPage,
    ContactListView,
    FilePreview,
    ListDeletionResult,
    list_view,
    preview_view,
)
from api.contacts.quotas import ContactQuotas
from api.contacts.tables import contact_tags, contacts, lists
from api.contacts.tags import split_tags
from api.db.batch_size import BatchSize
from api.db.database import Database, Store
from api.jobs.store import Job, JobStore, jobs
from api.jobs.worker import Progress
from wire.decoding.errors import BadInput, InputErrors

FILE_OPTIONS = ("encoding", "delimiter", "header_row")
KIND = "contacts-erase"


class ListService(Struct, frozen=True):
    """Operations on contact lists."""

    database: Database
    lists: ListStore
    files: FileStore
    imports: ImportStore
    jobs: JobStore
    quotas: ContactQuotas
    uploads: UploadService
    rejected: LimitedSlots

    async def upload(self, account_id: str, data: UploadData, file: UploadFile) -> ContactListView:
        """Create a list from a file; raises Conflict if the account has its lists or bytes."""
        values = {**_values(data), "status": "UPLOADED", "additional_fields": []}
        await self.quotas.check_list(account_id)
        file_id = await self.uploads.store(account_id, file, data)
        async with self.database.writing() as connection:
            list_id = await self.lists.add(connection, account_id, values)
            await self.files.assign(connection, file_id, list_id)
        return await self.get(account_id, list_id)

    async def create_inbound(self, account_id: str, body: InboundListRequest) -> ContactListView:
        """Create a list without a file; raises Conflict if the account has its lists."""
        await self.quotas.check_list(account_id)
        fields = own_fields(
            assignedFields=body.assigned_fields, additionalFields=body.additional_fields
        )
        flags = {"status": "CREATED", "is_default": False, "is_active": True}
        values = {**_values(body), **flags, "assigned_fields": fields}
        async with self.database.writing() as connection:
            list_id = await self.lists.add(connection, account_id, values)
        return await self.get(account_id, list_id)

    async def change(
        self, account_id: str, list_id: int, data: ChangeData, file: UploadFile | None
    ) -> ContactListView:
        """Change a list; a file replaces the one it has.

        With the status MAPPING_DONE, a new file's columns are mapped like those of the old file,
        or by the names of the fields.
        """
        values = _values(data)
        _check_not_processing(await self.lists.get(account_id, list_id))
        file_id = await self.uploads.store(account_id, file, data) if file else None
        if file_id is not None:
            await self.imports.delete_rejects(list_id)
        async with self.database.writing() as connection:
            _check_not_processing(await self.lists.lock(connection, account_id, list_id))
            old = await self.files.get(connection, list_id)
            if file_id is not None:
                await self.files.assign(connection, file_id, list_id)
                await self.imports.delete(connection, list_id)
                values.setdefault("status", "UPLOADED")
            if values:
                await self.lists.change(connection, account_id, list_id, values)
            if data.status:
                await self._keep_mappings(connection, account_id, list_id, old)
        return await self.get(account_id, list_id)

    async def _keep_mappings(
        self, connection: AsyncConnection, account_id: str, list_id: int, old: ListFile | None
    ) -> None:
        """Map the columns of a file that has no mappings; raises BadInput."""
        file = await self.files.get(connection, list_id)
        if file is None or file.mappings is not None:
            return
        assigned = (await self.lists.read(connection, account_id, list_id)).assigned_fields
        known = (old and old.mappings) or {}
        try:
            mappings = check_mappings(
                likely_mappings(file.headers, assigned, known), file.headers, assigned
            )
        except InputErrors:
            text = "map-fields comes first: no column of the file is known to be the phoneNumber"
            raise BadInput("data.status", text) from None
        await self.files.set_mappings(connection, file.id, mappings)

    async def get(self, account_id: str, list_id: int) -> ContactListView:
        """Return a list's view; raises NotFound."""
        contact_list = await self.lists.get(account_id, list_id)
        async with self.database.reading() as connection:
            return (await self._views(connection, [contact_list]))[0]

    async def page(self, account_id: str, query: ListQuery) -> ContactListPage:
        """Return a page of an account's lists."""
        filters = ListFilters(query.name, query.status, split_tags(query.tags))
        lists, total = await self.lists.page(account_id, filters, query.limit, query.offset)
        async with self.database.reading() as connection:
            views = await self._views(connection, lists)
        return ContactListPage(views, total, query.limit, query.offset)

    async def preview(self, account_id: str, list_id: int) -> FilePreview:
        """Return the first rows of a list's file; raises NotFound."""
        await self.lists.get(account_id, list_id)
        async with self.database.reading() as connection:
            file = await self.files.get(connection, list_id)
        if file is None:
            raise NotFound("the list has no file")
        return preview_view(file, await self.files.sample(file.id))

    async def rejected_rows(self, account_id: str, list_id: int) -> AsyncIterator[bytes]:
        """Return the rejected rows as CSV.

        Raises NotFound, Conflict during the import, and TooManyRequests if many are requested.
        """
        _check_not_processing(await self.lists.get(account_id, list_id))
        async with self.database.reading() as connection:
            file = await self.files.get(connection, list_id)
            latest = (await self.imports.get_several(connection, [list_id])).get(list_id)
        if latest is None or file is None:
            raise NotFound("no file of the list has been processed")
        async with self.rejected.slot(account_id):
            return await rejected_csv(self.imports.rejected_rows(latest.job_id), file.headers)

    async def delete(self, account_id: str, list_id: int) -> ListDeletionResult:
        """Hide a list at once, and delete it in the background."""
        hidden = {"is_deleted": True, "is_default": False}
        async with self.database.writing() as connection:
            await self.lists.change(connection, account_id, list_id, hidden)
            await self.files.abandon(connection, list_id)
            await cancel_downloads(connection, list_id)
            payload = {"list_id": list_id}
            await self.jobs.add(connection, KIND, account_id, payload)
        return ListDeletionResult(str(list_id))

    async def _views(
        self, connection: AsyncConnection, lists: list[ContactList]
    ) -> list[ContactListView]:
        ids = [each.id for each in lists]
        files = await self.files.get_several(connection, ids)
        imports = await self.imports.get_several(connection, ids)
        return [list_view(each, files.get(each.id), imports.get(each.id)) for each in lists]


def _values(data: UploadData | ChangeData | InboundListRequest) -> dict[str, Any]:
    """Return the columns for the fields that are set, without the options of the file."""
    fields = msgspec.structs.asdict(data).items()
    found = {
        name: value for name, value in fields if value is not UNSET and name not in FILE_OPTIONS
    }
    if "assigned_fields" in found:
        found["assigned_fields"] = own_fields(**{"data.assignedFields": found["assigned_fields"]})
    return found


def _check_not_processing(contact_list: ContactList) -> None:
    if contact_list.status == "PROCESSING":
        raise Conflict("its file is being processed", "processing")


class ListDeleter(Store):
    """Deletes lists in short transactions: what they have may be large."""

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Delete what is left of a list."""
        list_id, deleted, batch = job.payload["list_id"], 0, BatchSize()
        await delete_downloads(self._database, list_id)
        await FileStore(self._database, self._now_ms).delete_abandoned()
        await ImportStore(self._database, self._now_ms).delete_rejects(list_id)
        while count := await self._delete_batch(list_id, batch):
            deleted += count
            await progress(deleted, None)
        await delete_downloads(self._database, list_id)  # requested at the last moment
        await self._database.execute(sa.delete(lists).where(lists.c.id == list_id))
        return {"contacts": deleted}

    async def resume_failed(self) -> None:
        """Let jobs that have failed go on: what a customer deleted must not stay stored."""
        has_failed = sa.and_(jobs.c.kind == KIND, jobs.c.state == "failed")
        again = {"state": "waiting", "attempts": 0, "due_ms": self._now_ms(), "ended_ms": None}
        await self._database.execute(sa.update(jobs).where(has_failed).values(again))

    async def _delete_batch(self, list_id: int, size: BatchSize) -> int:
        """Delete some contacts; return how many."""
        ids = sa.select(contacts.c.id).where(contacts.c.list_id == list_id)
        batch = ids.order_by(contacts.c.id).limit(size.rows).scalar_subquery()
        async with self._database.writing() as connection:
            with size.measured():
                # Not by cascade: PostgreSQL would count the bytes of each contact's tags alone.
                tags = sa.delete(contact_tags).where(contact_tags.c.contact_id.in_(batch))
                await connection.execute(tags)
                deletion = sa.delete(contacts).where(contacts.c.id.in_(batch))
                return (await connection.execute(deletion)).rowcount
