"""Reads files of contacts in a subprocess (`reader/__main__.py`)."""

import asyncio
import signal
import struct
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec

from api.contacts.imports.reader import messages
from base.child_processes import kill, lower_priority
from base.sandbox import ENVIRONMENT

INSPECT_TIMEOUT_S = 60.0  # longer than any file of the maximum size takes
NICENESS = 10  # the requests of customers come first, also while the reader loads its modules
_READ_AHEAD_BYTES = 1 << 20
UNREADABLE = "it can't be read"
TOO_SLOW = f"it takes longer than {INSPECT_TIMEOUT_S:.0f} s to read"
# Of a reader at its limit, or one that the system ended for its memory.
_REASONS = dict.fromkeys(
    (-signal.SIGABRT, -signal.SIGKILL, -signal.SIGSEGV), messages.OUT_OF_MEMORY
)

_SUMMARY = msgspec.msgpack.Decoder(messages.FileSummary | messages.ReadFailed)
_BATCH = msgspec.msgpack.Decoder(messages.Batch | messages.ReadFailed | None)


async def inspect_file(hints: messages.FileHints, descriptor: int) -> messages.FileSummary:
    """Return a file's format, headers and first rows; raises UnreadableFile.

    The reader inherits the descriptor under its number.
    """
    async with _reader("inspect", hints, descriptor) as reader:
        try:
            async with asyncio.timeout(INSPECT_TIMEOUT_S):
                summary: messages.FileSummary | messages.ReadFailed = _SUMMARY.decode(
                    await _frame(reader)
                )
        except TimeoutError:
            raise messages.UnreadableFile(TOO_SLOW) from None
    if isinstance(summary, messages.ReadFailed):
        raise messages.UnreadableFile(summary.reason)
    return summary


@asynccontextmanager
async def batches(request: messages.ReadRequest) -> AsyncIterator[AsyncIterator[messages.Batch]]:
    """Read a file's contacts in batches, which raise UnreadableFile, until the context ends."""
    async with _reader("batches", request) as reader:
        yield _batches(reader)


async def _batches(reader: Process) -> AsyncIterator[messages.Batch]:
    while batch := _BATCH.decode(await _frame(reader)):
        if isinstance(batch, messages.ReadFailed):
            raise messages.UnreadableFile(batch.reason)
        yield batch


@asynccontextmanager
async def _reader(command: str, request: object, *inherited: int) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "api.contacts.imports.reader", command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_READ_AHEAD_BYTES,
        env=ENVIRONMENT,
        pass_fds=inherited,
    )
    lower_priority(process, NICENESS)
    assert process.stdin is not None  # noqa: S101 - for the type checker: requested above
    try:
        with suppress(ConnectionError):  # it ended: its output says why
            process.stdin.write(msgspec.json.encode(request))
            process.stdin.write_eof()
            await process.stdin.drain()
        yield process
    finally:
        kill(process)
        await process.wait()


async def _frame(reader: Process) -> bytes:
    frames = reader.stdout
    assert frames is not None  # noqa: S101 - for the type checker: requested above
    try:
        (size,) = struct.unpack(">I", await frames.readexactly(4))
        return await frames.readexactly(size)
    except asyncio.IncompleteReadError:
        raise messages.UnreadableFile(_REASONS.get(await reader.wait(), UNREADABLE)) from None
