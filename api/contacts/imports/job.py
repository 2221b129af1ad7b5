"""A list's file taken in: a background job, batch by batch.

A batch's contacts, its rejected rows, and how far the file is, are one commit. Killed in the
middle, it is taken up after the last batch; of two who take it up at once, one's commit fails.
"""

import tempfile
from contextlib import suppress
from typing import Any, BinaryIO, cast

import msgspec
from msgspec import Struct

from api.common.clock import Clock
from api.common.errors import NotFound
from api.contacts.imports import reader_client
from api.contacts.imports.bulk_upsert import UpsertTarget, upsert_batch
from api.contacts.imports.file_store import FileStore
from api.contacts.imports.reader.messages import (
    Action,
    Batch,
    Fields,
    FileFormat,
    ReadRequest,
    UnreadableFile,
)
from api.contacts.imports.store import ImportProgress, ImportStore
from api.contacts.list_store import ListStore, Status, adjust_contact_count
from api.db.database import Database
from api.jobs.store import MAX_ATTEMPTS, Job, LeaseLost
from api.jobs.worker import PermanentFailure, Progress

KIND = "contacts-import"
LIST_DELETED = "the list or its file was deleted"
SUPERSEDED = "the file was processed anew"


class ImportJob(Struct, frozen=True):
    """Which file is taken in, and how."""

    list_id: int
    file_id: int
    format: FileFormat
    headers: list[str]
    mappings: Fields
    region: str | None
    action: Action
    total: int


class Importer:
    """Takes files in."""

    def __init__(
        self,
        database: Database,
        lists: ListStore,
        files: FileStore,
        imports: ImportStore,
        now_ms: Clock,
    ) -> None:
        self._database = database
        self._lists = lists
        self._files = files
        self._imports = imports
        self._now_ms = now_ms

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Take in what is missing of a file."""
        asked = msgspec.convert(job.payload, ImportJob)
        try:
            rows = await self._all(job, asked, progress)
        except NotFound:
            raise PermanentFailure(LIST_DELETED) from None
        except UnreadableFile as error:
            await self._end(job, asked, "FAILED")
            raise PermanentFailure(str(error)) from None
        except LeaseLost:
            raise
        except Exception:
            if job.attempts >= MAX_ATTEMPTS:
                await self._end(job, asked, "FAILED")
            raise
        await self._end(job, asked, "COMPLETED")
        return {"rows": rows}

    async def _all(self, job: Job, asked: ImportJob, progress: Progress) -> int:
        with tempfile.NamedTemporaryFile() as file:
            if not await self._files.fetch(asked.file_id, cast("BinaryIO", file)):
                raise PermanentFailure(LIST_DELETED)
            file.flush()
            done = await self._imports.rows(job.id)
            if done is None:
                raise PermanentFailure(SUPERSEDED)
            await progress(done, asked.total)
            wanted = ReadRequest(
                path=file.name,
                format=asked.format,
                headers=asked.headers,
                mappings=asked.mappings,
                region=asked.region,
                action=asked.action,
                skip=done,
            )
            async for batch in reader_client.batches(wanted):
                await self._take(job, asked, batch, done)
                done = batch.rows
                await progress(done, max(done, asked.total))
        return done

    async def _take(self, job: Job, asked: ImportJob, batch: Batch, after: int) -> None:
        into = UpsertTarget(job.account_id, asked.list_id, asked.action, self._now_ms())
        async with self._database.writing() as connection:
            await self._lists.read(connection, job.account_id, asked.list_id)
            added = await upsert_batch(connection, into, batch)
            again = len(batch.phone_number) - added + batch.doubles
            updates = asked.action == "update"
            step = ImportProgress(
                after=after,
                rows=batch.rows,
                added=added,
                updated=again if updates else 0,
                skipped=0 if updates else again,
                rejects=batch.rejects,
            )
            await self._imports.step(connection, job.id, step)
            await adjust_contact_count(connection, asked.list_id, added)

    async def _end(self, job: Job, asked: ImportJob, status: Status) -> None:
        with suppress(NotFound):  # the list was deleted meanwhile
            async with self._database.writing() as connection:
                values = {"status": status}
                await self._lists.change(connection, job.account_id, asked.list_id, values)
