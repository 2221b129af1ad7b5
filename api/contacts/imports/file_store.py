"""Files of lists in the database, in parts, so that every process can read them.

A file is stored without a list, and then assigned to one; files that remain unassigned are deleted
after an hour.
"""

import asyncio
import zlib
from typing import Any, BinaryIO

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from api.contacts.imports.reader.messages import Fields, FileFormat, FileSummary, Kind
from api.contacts.tables import file_parts, files
from api.db.database import Database, Store

PART_BYTES = 1 << 20
COMPRESSION_LEVEL = 1
ABANDONED_MS = 3_600_000


class ListFile(Struct, frozen=True):
    """The file of a list, and the mappings of its columns; its first rows are read alone."""

    id: int
    list_id: int
    name: str
    bytes: int
    rows: int
    kind: Kind
    encoding: str | None
    delimiter: str | None
    header_row: int
    headers: list[str]
    mappings: Fields | None
    uploaded_ms: int

    @property
    def format(self) -> FileFormat:
        return FileFormat(self.kind, self.encoding, self.delimiter, self.header_row)


_COLUMNS = [files.c[name] for name in ListFile.__struct_fields__]


class FileStore(Store):
    async def store(self, account_id: str, name: str, summary: FileSummary, file: BinaryIO) -> int:
        """Store a file without a list, and return its id."""
        row = {
            "account_id": account_id,
            "name": name,
            "bytes": 0,
            "rows": summary.rows,
            "kind": summary.format.kind,
            "encoding": summary.format.encoding,
            "delimiter": summary.format.delimiter,
            "header_row": summary.format.header_row,
            "headers": summary.headers,
            "sample": summary.sample,
            "uploaded_ms": self._now_ms(),
        }
        await self.delete_abandoned()
        async with self._database.writing() as connection:
            added = await connection.execute(sa.insert(files).values(row).returning(files.c.id))
            file_id = int(added.scalar_one())
        await self._store_parts(file_id, file)
        return file_id

    async def assign(self, connection: AsyncConnection, file_id: int, list_id: int) -> None:
        """Assign a stored file to a list; it replaces the list's file."""
        await self.abandon(connection, list_id)
        change = sa.update(files).where(files.c.id == file_id).values(list_id=list_id)
        await connection.execute(change)

    async def abandon(self, connection: AsyncConnection, list_id: int) -> None:
        """Leave a list without its file, which is deleted later: its parts may be many."""
        abandoned = {"list_id": None, "bytes": 0, "uploaded_ms": 0}
        change = sa.update(files).where(files.c.list_id == list_id).values(abandoned)
        await connection.execute(change)

    async def get(self, connection: AsyncConnection, list_id: int) -> ListFile | None:
        """Return a list's file, without its content."""
        return (await self.get_several(connection, [list_id])).get(list_id)

    async def get_several(
        self, connection: AsyncConnection, list_ids: list[int]
    ) -> dict[int, ListFile]:
        """Return the files of several lists, by list id."""
        query = sa.select(*_COLUMNS).where(files.c.list_id.in_(list_ids))
        rows = (await connection.execute(query)).mappings()
        return {row["list_id"]: ListFile(**row) for row in rows}

    async def sample(self, file_id: int) -> list[list[str]]:
        """Return the first rows of a file."""
        rows: list[list[str]] | None = await self._database.scalar(
            sa.select(files.c.sample).where(files.c.id == file_id)
        )
        return rows or []

    async def set_mappings(
        self, connection: AsyncConnection, file_id: int, mappings: Fields
    ) -> None:
        change = sa.update(files).where(files.c.id == file_id).values(mappings=mappings)
        await connection.execute(change)

    async def fetch(self, file_id: int, target: BinaryIO) -> bool:
        """Write a file's content to `target`; False if it is deleted."""
        part = 0
        while (body := await self._part(file_id, part)) is not None:
            await asyncio.to_thread(_write, target, body)
            part += 1
        return part > 0

    async def _part(self, file_id: int, part: int) -> bytes | None:
        query = sa.select(file_parts.c.body).where(
            file_parts.c.file_id == file_id, file_parts.c.part == part
        )
        body: bytes | None = await self._database.scalar(query)
        return body

    async def _store_parts(self, file_id: int, file: BinaryIO) -> None:
        part, size = 0, 0
        while chunk := await asyncio.to_thread(file.read, PART_BYTES):
            body = await asyncio.to_thread(zlib.compress, chunk, COMPRESSION_LEVEL)
            row: dict[str, Any] = {"file_id": file_id, "part": part, "body": body}
            part, size = part + 1, size + len(chunk)
            async with self._database.writing() as connection:
                await connection.execute(sa.insert(file_parts).values(row))
                update = sa.update(files).where(files.c.id == file_id).values(bytes=size)
                await connection.execute(update)

    async def delete_abandoned(self) -> None:
        oldest_ms = self._now_ms() - ABANDONED_MS
        abandoned = sa.and_(files.c.list_id.is_(None), files.c.uploaded_ms < oldest_ms)
        await delete_files(self._database, abandoned)


async def delete_files(database: Database, condition: sa.ColumnElement[bool]) -> int:
    """Delete files, a few parts at a time; return how many files there were."""
    ids = sa.select(files.c.id).where(condition)
    await database.delete(file_parts, file_parts.c.file_id.in_(ids))
    return await database.delete(files, condition)


def _write(target: BinaryIO, body: bytes) -> None:
    target.write(zlib.decompress(body))
