"""Imports of a list's file: its columns are mapped, then its contacts are imported.

Rejected rows are CSV, to be corrected and uploaded again.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from itertools import chain, count
from typing import BinaryIO, cast

import msgspec
from msgspec import Struct

from api.accounts.cache import AccountCache
from api.common.csv_injection import encode_escaped_csv
from api.common.errors import Conflict
from api.contacts.imports import job
from api.contacts.imports.file_store import FileStore, ListFile
from api.contacts.imports.job import ImportJob
from api.contacts.imports.reader.messages import Action, Fields, RejectedRow
from api.contacts.imports.reader.row_parser import CONTACT_FIELDS, PHONE
from api.contacts.imports.store import ImportStore
from api.contacts.list_store import ContactList, ListStore
from api.contacts.quotas import ContactQuotas
from api.db.database import Database
from api.jobs.store import JobStore
from wire.decoding.errors import BadInput, InputErrors

MAX_MEMORY_BYTES = 1 << 20  # a larger file is on disk
CHUNK_BYTES = 1 << 16
PIECE_ROWS = 20  # which a thread writes in a few milliseconds, with the interpreter's lock


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
            checked = check_mappings(mappings, file.headers, contact_list.assigned_fields)
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


def check_mappings(
    mappings: Mapping[str, str], headers: Collection[str], assigned: Collection[str]
) -> Fields:
    """Return the mappings by normalized header; raises InputErrors."""
    normalized = {" ".join(header.split()): field for header, field in mappings.items()}
    fields = (*CONTACT_FIELDS, *assigned)
    errors = [
        BadInput(f"mappings.{header}", f"no column of this name; there are {_join(headers)}")
        for header in normalized
        if header not in headers
    ]
    errors += [
        BadInput(f"mappings.{header}", f"no field {field[:64]}; there are {_join(fields)}")
        for header, field in normalized.items()
        if field not in fields
    ]
    errors += _duplicates(normalized)
    if PHONE not in normalized.values():
        errors.append(BadInput("mappings", f"no column is mapped to {PHONE}"))
    if errors:
        raise InputErrors(tuple(errors))
    return normalized


def likely_mappings(
    headers: Collection[str], assigned: Collection[str], known: Mapping[str, str]
) -> Fields:
    """Map a file's columns as before, and map others by name if a field has the same name."""
    found = {header: known[header] for header in headers if header in known}
    for field in (*CONTACT_FIELDS, *assigned):
        if field in headers and field not in found and field not in found.values():
            found[field] = field
    return found


def _duplicates(mappings: Fields) -> list[BadInput]:
    first: dict[str, str] = {}
    return [
        BadInput(f"mappings.{header}", f"{field[:64]} is mapped already, by {first[field]}")
        for header, field in mappings.items()
        if first.setdefault(field, header) != header
    ]


def _join(names: Collection[str]) -> str:
    """Join the first names for a message; there may be hundreds."""
    shown = list(names)[:20]
    return ", ".join(shown) + (", …" if len(names) > len(shown) else "")


async def rejected_csv(
    pages: AsyncIterator[list[RejectedRow]], headers: list[str]
) -> AsyncIterator[bytes]:
    """Return the CSV of rejected rows: line number, reason, and the cells of each.

    All rows are written to a temporary file before the first is sent: a slow download must not end
    early without notice when the list's file is imported again meanwhile.
    """
    file = cast("BinaryIO", tempfile.SpooledTemporaryFile(MAX_MEMORY_BYTES))  # noqa: SIM115 - _chunks closes it
    try:
        own = [_free(each, headers) for each in ("line", "reason")]
        file.write(encode_escaped_csv([[*own, *headers]]))
        async for page in pages:
            for at in range(0, len(page), PIECE_ROWS):  # between them, the event loop comes first
                await asyncio.to_thread(_write, file, page[at : at + PIECE_ROWS])
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return _chunks(file)


def _free(name: str, headers: list[str]) -> str:
    """Return the name of an own column: a corrected file may be rejected in part once more."""
    names = (f"{name} {number}" for number in count(2))
    return next(each for each in chain((name,), names) if each not in headers)


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk


def _write(file: BinaryIO, rejects: list[RejectedRow]) -> None:
    for each in rejects:
        first = encode_escaped_csv([[str(each.line), each.reason]]).removesuffix(b"\r\n")
        file.write(b"%b,%b\r\n" % (first, each.cells.encode()))
