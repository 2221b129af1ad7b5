"""The background job that imports a list's file, in batches.

A batch's contacts, its rejected rows and the progress are one commit. A job that is interrupted is
resumed after its last batch; if two workers resume it at once, the commit of one fails.
"""

import tempfile
from itertools import repeat
from typing import Any, BinaryIO, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.common.errors import Conflict, NotFound
from api.contacts.imports import reader_client
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
TEXT_COLUMNS = ("f_name", "l_name", "email")
KEY_COLUMNS = ("f_name_key", "l_name_key", "email_key")
COLUMNS = ("phone_number", *TEXT_COLUMNS, *KEY_COLUMNS, "fields")
_INSERT = (
    f"INSERT INTO contacts ({', '.join(COLUMNS)},"
    " account_id, list_id, add_to_running_campaign, created_ms, updated_ms)"
)
_ON_CONFLICT = "ON CONFLICT (list_id, phone_number) DO"
_SQLITE = f"{_INSERT} VALUES ({', '.join('?' * len(COLUMNS))}, ?, ?, FALSE, ?, ?) {_ON_CONFLICT}"
_ARRAYS = ", ".join(f"${number}::text[]" for number, _ in enumerate(COLUMNS, 1))
_POSTGRES = (
    f"{_INSERT} SELECT *, $9::text, $10::bigint, FALSE, $11::bigint, $12::bigint"  # noqa: S608 - constant names; customers' values are bound
    f" FROM unnest({_ARRAYS}) {_ON_CONFLICT}"
)
_COUNT_EXISTING = (
    "SELECT count(*) FROM contacts WHERE list_id = ?"
    " AND phone_number IN (SELECT value FROM json_each(?))"
)
_SET = ", ".join(f"{key} = coalesce(?{number}, {key})" for number, key in enumerate(KEY_COLUMNS, 1))
_DIFFER = " OR ".join(f"coalesce(?{n}, {key}) IS NOT {key}" for n, key in enumerate(KEY_COLUMNS, 1))
_REKEY = f"UPDATE contacts SET {_SET} WHERE list_id = ?4 AND phone_number = ?5 AND ({_DIFFER})"  # noqa: S608 - constant names; the keys are bound


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


class UpsertTarget(Struct, frozen=True):
    """The list that a batch is written to, and what happens to existing contacts."""

    account_id: str
    list_id: int
    action: Action
    now_ms: int


async def upsert_batch(connection: AsyncConnection, target: UpsertTarget, batch: Batch) -> int:
    """Write a batch's contacts, each number once in the list; return how many are new.

    Index updates dominate the cost, so a row that changes nothing writes nothing. PostgreSQL
    updates no index if no key changes and its page has room (migration 0001). SQLite updates every
    index of a column that is set, even to the same value; there, the keys are set by a separate
    statement, where they differ.
    """
    if not batch.phone_number:
        return 0
    if connection.dialect.name == "postgresql":
        return await _to_postgres(connection, target, batch)
    if target.action == "skip":
        return await _to_sqlite(connection, target, batch, "NOTHING")
    existing = await _count_existing(connection, target.list_id, batch.phone_number)
    merged = "json_patch(contacts.fields, excluded.fields)"
    has_fields = f"{merged} = contacts.fields"
    await _to_sqlite(connection, target, batch, _update_clause(TEXT_COLUMNS, merged, has_fields))
    keys = [getattr(batch, name) for name in KEY_COLUMNS]
    rows = list(zip(*keys, repeat(target.list_id), batch.phone_number, strict=False))
    await connection.exec_driver_sql(_REKEY, rows)
    return len(batch.phone_number) - existing


async def _to_postgres(connection: AsyncConnection, target: UpsertTarget, batch: Batch) -> int:
    old, new = "CAST(contacts.fields AS jsonb)", "CAST(excluded.fields AS jsonb)"
    update = _update_clause(
        (*TEXT_COLUMNS, *KEY_COLUMNS), f"CAST({old} || {new} AS text)", f"{old} @> {new}"
    )
    on_conflict = "NOTHING" if target.action == "skip" else update
    # xmax of an updated row is this transaction; of a new row it is 0.
    sql = (
        f"WITH written AS ({_POSTGRES} {on_conflict} RETURNING xmax)"  # noqa: S608 - built from the constants above
        " SELECT count(*) FROM written WHERE xmax = 0"
    )
    columns = [getattr(batch, name) for name in COLUMNS]
    result = await connection.exec_driver_sql(sql, (*columns, *_constants(target)))
    return int(result.scalar_one())


async def _to_sqlite(
    connection: AsyncConnection, target: UpsertTarget, batch: Batch, on_conflict: str
) -> int:
    columns = [getattr(batch, name) for name in COLUMNS]
    rows = list(zip(*columns, *map(repeat, _constants(target)), strict=False))
    result = await connection.exec_driver_sql(f"{_SQLITE} {on_conflict}", rows)
    return int(result.rowcount)


def _constants(target: UpsertTarget) -> tuple[str, int, int, int]:
    return target.account_id, target.list_id, target.now_ms, target.now_ms


async def _count_existing(connection: AsyncConnection, list_id: int, numbers: list[str]) -> int:
    values = msgspec.json.encode(numbers).decode()
    result = await connection.exec_driver_sql(_COUNT_EXISTING, (list_id, values))
    return int(result.scalar_one())


def _update_clause(columns: tuple[str, ...], merged: str, has_fields: str) -> str:
    """Return the clause that updates an existing contact; an empty cell keeps the old value."""
    assignments = ", ".join(
        f"{each} = coalesce(excluded.{each}, contacts.{each})" for each in columns
    )
    fields = f"coalesce({merged}, excluded.fields, contacts.fields)"
    same = " AND ".join(
        f"coalesce(excluded.{each} = contacts.{each}, excluded.{each} IS NULL)"
        for each in TEXT_COLUMNS
    )
    has = f"coalesce({has_fields}, excluded.fields IS NULL)"
    return (
        f"UPDATE SET {assignments}, fields = {fields}, updated_ms = excluded.updated_ms"
        f" WHERE NOT ({same} AND {has})"
    )
