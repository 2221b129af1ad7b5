"""From a file to contacts: its columns are mapped, then it is taken in."""

import msgspec

from api.accounts.cache import AccountCache
from api.common.errors import Conflict
from api.contacts.imports import job, mapping
from api.contacts.imports.file_store import ListFile
from api.contacts.imports.job import ImportJob
from api.contacts.imports.reader.messages import Action
from api.contacts.list_store import ContactList
from api.contacts.lists.service import ListStores


class ImportService:
    """One method a request; what a list looks like then, others say."""

    def __init__(self, kept: ListStores, known: AccountCache) -> None:
        self._kept = kept
        self._known = known

    async def map(self, account_id: str, list_id: int, mappings: dict[str, str]) -> None:
        """Say which column fills which field."""
        async with self._kept.database.writing() as connection:
            found = await self._kept.lists.hold(connection, account_id, list_id)
            file = _file(found, await self._kept.files.of(connection, list_id))
            checked = mapping.check_mappings(mappings, file.headers, found.assigned_fields)
            await self._kept.files.map(connection, file.id, checked)
            status = {"status": "MAPPING_DONE"}
            await self._kept.lists.change(connection, account_id, list_id, status)

    async def start(self, account_id: str, list_id: int, action: Action) -> None:
        """Take a list's file in, in the background."""
        region = (await self._known.get(account_id)).account.region
        async with self._kept.database.writing() as connection:
            found = await self._kept.lists.hold(connection, account_id, list_id)
            file = _file(found, await self._kept.files.of(connection, list_id))
            payload = msgspec.to_builtins(_asked(file, region, action))
            job_id = await self._kept.jobs.add(connection, job.KIND, account_id, payload)
            await self._kept.imports.begin(connection, job_id, list_id, action)
            status = {"status": "PROCESSING"}
            await self._kept.lists.change(connection, account_id, list_id, status)


def _file(found: ContactList, file: ListFile | None) -> ListFile:
    if file is None:
        raise Conflict("the list has no file", "no_file")
    if found.status == "PROCESSING":
        raise Conflict("its file is being processed", "processing")
    return file


def _asked(file: ListFile, region: str | None, action: Action) -> ImportJob:
    if file.mappings is None:
        raise Conflict("map-fields comes first: its columns are not mapped", "not_mapped")
    return ImportJob(
        list_id=file.list_id,
        file_id=file.id,
        format=file.format,
        headers=file.headers,
        mappings=file.mappings,
        region=region,
        action=action,
        total=file.rows,
    )
