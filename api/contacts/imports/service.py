"""Imports of a list's file: its columns are mapped, then its contacts are imported."""

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.common.errors import Conflict
from api.contacts.imports import job, mapping
from api.contacts.imports.file_store import FileStore, ListFile
from api.contacts.imports.job import ImportJob
from api.contacts.imports.reader.messages import Action
from api.contacts.imports.store import ImportStore
from api.contacts.list_store import ContactList, ListStore
from api.contacts.quotas import ContactQuotas
from api.db.database import Database
from api.jobs.store import JobStore


class ImportService(Struct, frozen=True):
    """Operations on imports."""

    database: Database
    lists: ListStore
    files: FileStore
    imports: ImportStore
    jobs: JobStore
    quotas: ContactQuotas
    accounts: AccountCache

    async def map_columns(self, account_id: str, list_id: int, mappings: dict[str, str]) -> None:
        """Store which column fills which field; raises NotFound, Conflict or InputErrors."""
        async with self.database.writing() as connection:
            contact_list = await self.lists.lock(connection, account_id, list_id)
            file = _idle_file(contact_list, await self.files.get(connection, list_id))
            checked = mapping.check_mappings(mappings, file.headers, contact_list.assigned_fields)
            await self.files.set_mappings(connection, file.id, checked)
            status = {"status": "MAPPING_DONE"}
            await self.lists.change(connection, account_id, list_id, status)

    async def start(self, account_id: str, list_id: int, action: Action) -> None:
        """Start the import of a list's file; raises NotFound or Conflict."""
        region = (await self.accounts.get(account_id)).region
        async with self.database.writing() as connection:
            contact_list = await self.lists.lock(connection, account_id, list_id)
            file = _idle_file(contact_list, await self.files.get(connection, list_id))
            if file.mappings is None:
                raise Conflict("map-fields comes first: its columns are not mapped", "not_mapped")
            added = max(0, file.rows - contact_list.contacts)  # the others are updated
            await self.quotas.check_contacts(connection, account_id, added)
            payload = msgspec.to_builtins(ImportJob(list_id, file.id, region, action))
            job_id = await self.jobs.add(connection, job.KIND, account_id, payload)
            await self.imports.add(connection, job_id, list_id, action)
            status = {"status": "PROCESSING"}
            await self.lists.change(connection, account_id, list_id, status)


def _idle_file(contact_list: ContactList, file: ListFile | None) -> ListFile:
    if file is None:
        raise Conflict("the list has no file", "no_file")
    if contact_list.status == "PROCESSING":
        raise Conflict("its file is being processed", "processing")
    return file
