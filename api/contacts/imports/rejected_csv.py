"""Rejected rows as CSV, to be corrected and uploaded again.

All rows are written to a temporary file before the first is sent: a slow download must not end
early without notice when the list's file is imported again meanwhile.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from itertools import chain, count
from typing import BinaryIO, cast

from api.common.csv_injection import encode_escaped_csv
from api.contacts.imports.reader.messages import RejectedRow

MAX_MEMORY_BYTES = 1 << 20  # a larger file is on disk
CHUNK_BYTES = 1 << 16
PIECE_ROWS = 20  # which a thread writes in a few milliseconds, with the interpreter's lock


async def rejected_csv(
    pages: AsyncIterator[list[RejectedRow]], headers: list[str]
) -> AsyncIterator[bytes]:
    """Return the CSV of rejected rows: line number, reason, and the cells of each."""
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
