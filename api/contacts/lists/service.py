"""What can be done with contact lists."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from msgspec import UNSET
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.datastructures import UploadFile

from api.common.errors import Conflict, NotFound
from api.contacts.exports.store import delete_downloads
from api.contacts.imports.file_store import FileStore, ListFile
from api.contacts.imports.rejected_csv import rejected_csv
from api.contacts.imports.store import ImportStore
from api.contacts.imports.uploads import UploadService
from api.contacts.list_store import ContactList, ListFilters, ListStore
from api.contacts.lists import delete_job
from api.contacts.lists.schemas import ChangeData, InboundBody, ListQuery, UploadData, check_fields
from api.contacts.lists.views import (
    DeletedList,
    ListPage,
    ListView,
    Preview,
    list_view,
    preview_view,
)
from api.contacts.tags.schemas import split_tags
from api.db.database import Database
from api.jobs.store import JobStore
from wire.errors import BadInput


class ListStores(msgspec.Struct, frozen=True):
    """Where lists are, and all that belongs to them."""

    database: Database
    lists: ListStore
    files: FileStore
    imports: ImportStore
    jobs: JobStore


class ListService:
    """One method a request."""

    def __init__(self, kept: ListStores, uploads: UploadService) -> None:
        self._stores = kept
        self._uploads = uploads

    async def upload(self, account_id: str, data: UploadData, file: UploadFile) -> ListView:
        """Make a list of a file."""
        check_fields(data.assigned_fields, "data.assignedFields")
        file_id = await self._uploads.store(account_id, file, data)
        values = {**_values(data), "status": "UPLOADED", "additional_fields": []}
        async with self._stores.database.writing() as connection:
            list_id = await self._stores.lists.add(connection, account_id, values)
            await self._stores.files.give(connection, file_id, list_id)
        return await self.get(account_id, list_id)

    async def inbound(self, account_id: str, body: InboundBody) -> ListView:
        """Make a list without a file."""
        check_fields(body.assigned_fields, "assignedFields")
        values = {**_values(body), "status": "CREATED", "is_default": False, "is_active": True}
        async with self._stores.database.writing() as connection:
            list_id = await self._stores.lists.add(connection, account_id, values)
        return await self.get(account_id, list_id)

    async def change(
        self, account_id: str, list_id: int, data: ChangeData, file: UploadFile | None
    ) -> ListView:
        """Change a list; another file takes the place of the one that it has."""
        check_fields(data.assigned_fields or (), "data.assignedFields")
        values = _values(data)
        if not values and file is None:
            raise BadInput("data", "neither a file nor anything to change")
        _unlocked(await self._stores.lists.get(account_id, list_id))
        file_id = await self._uploads.store(account_id, file, data) if file else None
        async with self._stores.database.writing() as connection:
            _unlocked(await self._stores.lists.hold(connection, account_id, list_id))
            if file_id is not None:
                await self._stores.files.give(connection, file_id, list_id)
                await self._stores.imports.forget(connection, list_id)
                values.setdefault("status", "UPLOADED")
            if data.status:
                _mapped(await self._stores.files.of(connection, list_id))
            await self._stores.lists.change(connection, account_id, list_id, values)
        return await self.get(account_id, list_id)

    async def get(self, account_id: str, list_id: int) -> ListView:
        """Show a list; raises NotFound."""
        found = await self._stores.lists.get(account_id, list_id)
        async with self._stores.database.reading() as connection:
            return (await self._views(connection, [found]))[0]

    async def page(self, account_id: str, asked: ListQuery) -> ListPage:
        """Show a page of an account's lists."""
        filters = ListFilters(asked.name, asked.status, split_tags(asked.tags))
        found, total = await self._stores.lists.page(account_id, filters, asked.limit, asked.offset)
        async with self._stores.database.reading() as connection:
            views = await self._views(connection, found)
        return ListPage(views, total, asked.limit, asked.offset)

    async def preview(self, account_id: str, list_id: int) -> Preview:
        """Show the first rows of a list's file; raises NotFound."""
        await self._stores.lists.get(account_id, list_id)
        async with self._stores.database.reading() as connection:
            file = await self._stores.files.of(connection, list_id)
        if file is None:
            raise NotFound("the list has no file")
        return preview_view(file)

    async def rejected(self, account_id: str, list_id: int) -> AsyncIterator[bytes]:
        """Give the rows that were rejected, as CSV; raises NotFound, or Conflict until all are."""
        _unlocked(await self._stores.lists.get(account_id, list_id))
        async with self._stores.database.reading() as connection:
            file = await self._stores.files.of(connection, list_id)
            taken = (await self._stores.imports.of_several(connection, [list_id])).get(list_id)
        if taken is None or file is None:
            raise NotFound("no file of the list has been processed")
        return await rejected_csv(self._stores.imports.rejected(taken.job_id), file.headers)

    async def delete(self, account_id: str, list_id: int) -> DeletedList:
        """Take a list out of sight at once, and out of the database in the background."""
        gone = {"is_deleted": True, "is_default": False}
        async with self._stores.database.writing() as connection:
            await self._stores.lists.change(connection, account_id, list_id, gone)
            await self._stores.files.remove(connection, list_id)
            await delete_downloads(connection, list_id)
            payload = {"list_id": list_id}
            await self._stores.jobs.add(connection, delete_job.KIND, account_id, payload)
        return DeletedList(str(list_id))

    async def _views(self, connection: AsyncConnection, found: list[ContactList]) -> list[ListView]:
        ids = [each.id for each in found]
        files = await self._stores.files.of_several(connection, ids)
        imports = await self._stores.imports.of_several(connection, ids)
        return [list_view(each, files.get(each.id), imports.get(each.id)) for each in found]


def _values(data: UploadData | ChangeData | InboundBody) -> dict[str, Any]:
    """Give the columns that are said; how a file is to be read is none."""
    said = msgspec.structs.asdict(data).items()
    beside = ("encoding", "delimiter")
    return {name: value for name, value in said if value is not UNSET and name not in beside}


def _unlocked(found: ContactList) -> None:
    if found.status == "PROCESSING":
        raise Conflict("its file is being processed", "processing")


def _mapped(file: ListFile | None) -> None:
    if file is None or file.mappings is None:
        raise BadInput("data.status", "map-fields comes first: its columns are not mapped")
