"""Files of contacts, read by a process apart (`files/__main__.py`)."""

import asyncio
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from api.contacts.imports.reader.messages import (
    Batch,
    FileHints,
    FileSummary,
    ReadFailed,
    ReadRequest,
    UnreadableFile,
)

INSPECT_TIMEOUT_S = 60.0  # no file that is let in takes longer
_AHEAD = 1 << 20  # bytes that are read before they are asked for
ENDED = "it can't be read"

_FOUND = msgspec.msgpack.Decoder(FileSummary | ReadFailed)
_BATCH = msgspec.msgpack.Decoder(Batch | ReadFailed | None)


async def inspect_file(given: FileHints) -> FileSummary:
    """Look at a file: what it is, its headers, its first rows. Raises Unreadable."""
    async with _reader("look", given) as frames:
        try:
            async with asyncio.timeout(INSPECT_TIMEOUT_S):
                found: FileSummary | ReadFailed = _FOUND.decode(await _frame(frames))
        except TimeoutError:
            raise UnreadableFile(ENDED) from None
    if isinstance(found, ReadFailed):
        raise UnreadableFile(found.reason)
    return found


async def batches(wanted: ReadRequest) -> AsyncIterator[Batch]:
    """Give what a file has, batch by batch; raises Unreadable."""
    async with _reader("batches", wanted) as frames:
        while batch := _BATCH.decode(await _frame(frames)):
            if isinstance(batch, ReadFailed):
                raise UnreadableFile(batch.reason)
            yield batch


@asynccontextmanager
async def _reader(what: str, asked: object) -> AsyncIterator[asyncio.StreamReader]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "api.contacts.imports.reader", what),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_AHEAD,
    )
    assert process.stdin is not None  # noqa: S101 - for the type checker: asked for above
    assert process.stdout is not None  # noqa: S101 - for the type checker: asked for above
    try:
        with suppress(ConnectionError):  # it ended: what it said tells why
            process.stdin.write(msgspec.json.encode(asked))
            process.stdin.write_eof()
            await process.stdin.drain()
        yield process.stdout
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _frame(frames: asyncio.StreamReader) -> bytes:
    try:
        (size,) = struct.unpack(">I", await frames.readexactly(4))
        return await frames.readexactly(size)
    except asyncio.IncompleteReadError:
        raise UnreadableFile(ENDED) from None
