"""Rejected rows as CSV, to be mended and sent again; none of it is taken for a formula.

All are written down before the first is sent: who fetches them slowly must not get half of them for
the whole when the list's file is processed again meanwhile.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterable
from typing import BinaryIO, cast

import msgspec

from api.common.csv_injection import encode_csv, escape_formula
from api.contacts.imports.reader.messages import RejectedRow

IN_MEMORY = 1 << 20  # bytes; more are on disk
CHUNK = 1 << 16


async def rejected_csv(
    pages: AsyncIterator[list[RejectedRow]], headers: list[str]
) -> AsyncIterator[bytes]:
    """Write a line for each rejected row: its line in the file, why, and its cells."""
    written = cast("BinaryIO", tempfile.SpooledTemporaryFile(IN_MEMORY))  # noqa: SIM115 - who reads it closes it
    try:
        written.write(encode_csv([_safe(["line", "reason", *headers])]))
        async for page in pages:
            await asyncio.to_thread(_write, written, page)
    except BaseException:
        written.close()
        raise
    written.seek(0)
    return _read(written)


async def _read(written: BinaryIO) -> AsyncIterator[bytes]:
    with written:
        while chunk := await asyncio.to_thread(written.read, CHUNK):
            yield chunk


def _write(into: BinaryIO, rejects: list[RejectedRow]) -> None:
    rows = ([str(each.line), each.reason, *_cells(each)] for each in rejects)
    into.write(encode_csv(map(_safe, rows)))


def _cells(reject: RejectedRow) -> list[str]:
    return msgspec.json.decode(reject.cells, type=list[str])


def _safe(row: Iterable[str]) -> list[str]:
    return [escape_formula(cell) for cell in row]
