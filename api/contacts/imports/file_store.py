"""Files of lists in the database, in parts: every process can read them, none has a directory.

A file that is being stored is of no list yet; the transaction that says what becomes of it gives it
to one. What nobody took is forgotten after a while.
"""

import asyncio
import zlib
from typing import Any, BinaryIO

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.common.clock import Clock
from api.contacts.imports.reader.messages import Fields, FileFormat, FileSummary, Kind
from api.contacts.tables import file_parts, files
from api.db.database import Database

PART = 1 << 20  # bytes
LEVEL = 1  # of compression
ABANDONED_MS = 3_600_000


class ListFile(Struct, frozen=True):
    """A list's file, and how its columns are mapped."""

    id: int
    list_id: int
    name: str
    bytes: int
    rows: int
    kind: Kind
    encoding: str | None
    delimiter: str | None
    headers: list[str]
    sample: list[list[str]]
    mappings: Fields | None
    uploaded_ms: int

    @property
    def format(self) -> FileFormat:
        """Tell how it is read."""
        return FileFormat(self.kind, self.encoding, self.delimiter)


_SHOWN = [files.c[name] for name in ListFile.__struct_fields__]


class FileStore:
    """What is kept of files."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def store(self, account_id: str, name: str, found: FileSummary, file: BinaryIO) -> int:
        """Store a file that is of no list yet; gives its id."""
        row = {
            "account_id": account_id,
            "name": name,
            "bytes": 0,
            "rows": found.rows,
            "kind": found.format.kind,
            "encoding": found.format.encoding,
            "delimiter": found.format.delimiter,
            "headers": found.headers,
            "sample": found.sample,
            "uploaded_ms": self._now_ms(),
        }
        async with self._database.writing() as connection:
            await self._forget(connection)
            added = await connection.execute(sa.insert(files).values(row).returning(files.c.id))
            file_id = int(added.scalar_one())
        await self._store_parts(file_id, file)
        return file_id

    async def give(self, connection: AsyncConnection, file_id: int, list_id: int) -> None:
        """Give a stored file to a list, instead of the one that it has."""
        await self.remove(connection, list_id)
        change = sa.update(files).where(files.c.id == file_id).values(list_id=list_id)
        await connection.execute(change)

    async def remove(self, connection: AsyncConnection, list_id: int) -> None:
        """Take a list's file out."""
        await connection.execute(sa.delete(files).where(files.c.list_id == list_id))

    async def of(self, connection: AsyncConnection, list_id: int) -> ListFile | None:
        """Read what is known of a list's file."""
        return (await self.of_several(connection, [list_id])).get(list_id)

    async def of_several(
        self, connection: AsyncConnection, list_ids: list[int]
    ) -> dict[int, ListFile]:
        """Read what is known of several lists' files."""
        query = sa.select(*_SHOWN).where(files.c.list_id.in_(list_ids))
        rows = (await connection.execute(query)).mappings()
        return {row["list_id"]: ListFile(**row) for row in rows}

    async def map(self, connection: AsyncConnection, file_id: int, mappings: Fields) -> None:
        """Keep how a file's columns are mapped."""
        change = sa.update(files).where(files.c.id == file_id).values(mappings=mappings)
        await connection.execute(change)

    async def fetch(self, file_id: int, into: BinaryIO) -> bool:
        """Write a file's content; False if it is not there any more."""
        part = 0
        while (body := await self._part(file_id, part)) is not None:
            await asyncio.to_thread(_write, into, body)
            part += 1
        return part > 0

    async def _part(self, file_id: int, part: int) -> bytes | None:
        query = sa.select(file_parts.c.body).where(
            file_parts.c.file_id == file_id, file_parts.c.part == part
        )
        async with self._database.reading() as connection:
            found: bytes | None = (await connection.execute(query)).scalar_one_or_none()
        return found

    async def _store_parts(self, file_id: int, file: BinaryIO) -> None:
        part, size = 0, 0
        while chunk := await asyncio.to_thread(file.read, PART):
            body = await asyncio.to_thread(zlib.compress, chunk, LEVEL)
            row: dict[str, Any] = {"file_id": file_id, "part": part, "body": body}
            part, size = part + 1, size + len(chunk)
            async with self._database.writing() as connection:
                await connection.execute(sa.insert(file_parts).values(row))
                grown = sa.update(files).where(files.c.id == file_id).values(bytes=size)
                await connection.execute(grown)

    async def _forget(self, connection: AsyncConnection) -> None:
        oldest_ms = self._now_ms() - ABANDONED_MS
        abandoned = sa.and_(files.c.list_id.is_(None), files.c.uploaded_ms < oldest_ms)
        await connection.execute(sa.delete(files).where(abandoned))


def _write(into: BinaryIO, body: bytes) -> None:
    into.write(zlib.decompress(body))
