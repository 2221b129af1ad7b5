"""The background job that imports a list's file, in batches.

A batch's contacts, its rejected rows and the progress are one commit. A job that is interrupted is
resumed after its last batch; if two workers resume it at once, the commit of one fails.
"""

import tempfile
from typing import Any, BinaryIO, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from api.common.clock import Clock
from api.common.errors import Conflict, NotFound
from api.contacts.imports import reader_client
from api.contacts.imports.bulk_upsert import UpsertTarget, upsert_batch
from api.contacts.imports.file_store import FileStore, ListFile
from api.contacts.imports.reader.messages import (
    Action,
    Batch,
    ReadRequest,
    UnreadableFile,
)
from api.contacts.imports.reader.row_parser import CONTACT_FIELDS
from api.contacts.imports.store import ImportProgress, ImportStore
from api.contacts.list_store import ListStore, adjust_contact_count
from api.contacts.quotas import ContactQuotas
from api.db.database import Database
from api.jobs.store import Job
from api.jobs.worker import PermanentFailure, Progress

KIND = "contacts-import"
LIST_DELETED = "the list or its file was deleted"
SUPERSEDED = "the file was processed again"


class ImportJob(Struct, frozen=True):
    """The file to import, and how.

    Its columns and their mappings stay where they are until the import ends: the job is kept for
    longer than the list, and a header may have many bytes.
    """

    list_id: int
    file_id: int
    region: str | None
    action: Action


class Importer(Struct, frozen=True):
    database: Database
    lists: ListStore
    files: FileStore
    imports: ImportStore
    quotas: ContactQuotas
    now_ms: Clock

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Import the rest of a file; raises PermanentFailure or LeaseLost."""
        spec = msgspec.convert(job.payload, ImportJob)
        try:
            rows = await self._import(job, spec, progress)
        except NotFound:
            raise PermanentFailure(LIST_DELETED) from None
        except (UnreadableFile, Conflict) as error:  # Conflict: no room for its contacts
            raise PermanentFailure(str(error)) from None
        return {"rows": rows}

    async def _import(self, job: Job, spec: ImportJob, progress: Progress) -> int:
        with tempfile.NamedTemporaryFile() as file:
            if not await self.files.fetch(spec.file_id, cast("BinaryIO", file)):
                raise PermanentFailure(LIST_DELETED)
            file.flush()
            done = await self.imports.rows(job.id)
            if done is None:
                raise PermanentFailure(SUPERSEDED)
            stored = await self._stored(job, spec)
            await progress(done, stored.rows)
            request = ReadRequest(
                path=file.name,
                format=stored.format,
                headers=stored.headers,
                mappings=stored.mappings or {},
                region=spec.region,
                action=spec.action,
                skip=done,
            )
            async with reader_client.batches(request) as batches:
                async for batch in batches:
                    await self._write(job, spec, batch, done)
                    done = batch.rows
                    await progress(done, max(done, stored.rows))
        return done

    async def _stored(self, job: Job, spec: ImportJob) -> ListFile:
        """Return the file, with the mappings to fields that its list has."""
        async with self.database.reading() as connection:
            contact_list = await self.lists.read(connection, job.account_id, spec.list_id)
            file = await self.files.get(connection, spec.list_id)
        if file is None or file.id != spec.file_id or file.mappings is None:
            raise PermanentFailure(LIST_DELETED)
        fields = (*CONTACT_FIELDS, *contact_list.assigned_fields)
        mappings = {header: field for header, field in file.mappings.items() if field in fields}
        return replace(file, mappings=mappings)

    async def _write(self, job: Job, spec: ImportJob, batch: Batch, after: int) -> None:
        target = UpsertTarget(job.account_id, spec.list_id, spec.action, self.now_ms())
        async with self.database.writing() as connection:
            await self.lists.read(connection, job.account_id, spec.list_id)
            added = await upsert_batch(connection, target, batch)
            existing = len(batch.phone_number) - added + batch.duplicates
            is_update = spec.action == "update"
            progress = ImportProgress(
                after=after,
                rows=batch.rows,
                added=added,
                updated=existing if is_update else 0,
                skipped=0 if is_update else existing,
                rejects=batch.rejects,
            )
            await self.imports.advance(connection, job.id, progress)
            await adjust_contact_count(connection, spec.list_id, added)
            await self.quotas.check_contacts(connection, job.account_id)
            if batch.rejects:
                await self.quotas.check_bytes_within(connection, job.account_id)
