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
from api.contacts.imports import reader_client
from api.contacts.imports.bulk_upsert import Into, write
from api.contacts.imports.file_store import Files
from api.contacts.imports.reader.messages import Action, Batch, Fields, Format, Unreadable, Wanted
from api.contacts.imports.store import Imports, Step
from api.contacts.lists.store import Lists, Status, counted
from api.db.database import Database
from api.http.errors import NotFound
from api.jobs.store import MOST_ATTEMPTS, Job, LeaseLost
from api.jobs.worker import Hopeless, Progress

KIND = "contacts-import"
GONE = "the list or its file was deleted"
ANEW = "the file was processed anew"


class Asked(Struct, frozen=True):
    """Which file is taken in, and how."""

    list_id: int
    file_id: int
    format: Format
    headers: list[str]
    mappings: Fields
    region: str | None
    action: Action
    total: int


class Importer:
    """Takes files in."""

    def __init__(
        self, database: Database, lists: Lists, files: Files, imports: Imports, now_ms: Clock
    ) -> None:
        self._database = database
        self._lists = lists
        self._files = files
        self._imports = imports
        self._now_ms = now_ms

    async def run(self, job: Job, progress: Progress) -> dict[str, Any]:
        """Take in what is missing of a file."""
        asked = msgspec.convert(job.payload, Asked)
        try:
            rows = await self._all(job, asked, progress)
        except NotFound:
            raise Hopeless(GONE) from None
        except Unreadable as error:
            await self._end(job, asked, "FAILED")
            raise Hopeless(str(error)) from None
        except LeaseLost:
            raise
        except Exception:
            if job.attempts >= MOST_ATTEMPTS:
                await self._end(job, asked, "FAILED")
            raise
        await self._end(job, asked, "COMPLETED")
        return {"rows": rows}

    async def _all(self, job: Job, asked: Asked, progress: Progress) -> int:
        with tempfile.NamedTemporaryFile() as file:
            if not await self._files.fetch(asked.file_id, cast("BinaryIO", file)):
                raise Hopeless(GONE)
            file.flush()
            done = await self._imports.rows(job.id)
            if done is None:
                raise Hopeless(ANEW)
            await progress(done, asked.total)
            wanted = Wanted(
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

    async def _take(self, job: Job, asked: Asked, batch: Batch, after: int) -> None:
        into = Into(job.account_id, asked.list_id, asked.action, self._now_ms())
        async with self._database.writing() as connection:
            await self._lists.read(connection, job.account_id, asked.list_id)
            added = await write(connection, into, batch)
            again = len(batch.phone_number) - added + batch.doubles
            updates = asked.action == "update"
            step = Step(
                after=after,
                rows=batch.rows,
                added=added,
                updated=again if updates else 0,
                skipped=0 if updates else again,
                rejects=batch.rejects,
            )
            await self._imports.step(connection, job.id, step)
            await counted(connection, asked.list_id, added)

    async def _end(self, job: Job, asked: Asked, status: Status) -> None:
        with suppress(NotFound):  # the list was deleted meanwhile
            async with self._database.writing() as connection:
                values = {"status": status}
                await self._lists.change(connection, job.account_id, asked.list_id, values)
