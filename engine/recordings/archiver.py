"""Filing: the tapes of one PBX become one WAV file in the archive, however long they are."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import aiohttp
from msgspec import Struct
from yarl import URL

from engine.recordings import wav
from engine.recordings.archive import Archive
from engine.recordings.errors import ArchiveError

CHUNK_BYTES = 262_144
SILENCE = bytes(CHUNK_BYTES)
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=10)
_NOT_FOUND = 404


class RecordingPart(Struct, frozen=True):
    """One tape: its file's name on the PBX, and when it began (wall-clock milliseconds)."""

    name: str
    began_ms: int


class RecordingArchiver:
    """Files the tapes of one PBX; `ari_url` ends with /ari, `http` is authorized there."""

    def __init__(
        self, ari_url: str, http: aiohttp.ClientSession, archive: Archive, spool: Path
    ) -> None:
        self._url = ari_url
        self._http = http
        self._archive = archive
        self._spool = spool

    async def file(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """Put tapes, in their order and with silence between them, into one file.

        Gives its length in ms, or None when the PBX has no such tape; raises FilingFailed. What
        is in the archive already is left as it is: a file there is whole.
        """
        kept = await self._archive.size(path)
        if kept is not None:
            return wav.duration_ms(channels, kept)
        try:
            with await asyncio.to_thread(_open_temporary, self._spool) as out:
                length = await self._spooled(out, channels, parts)
                if length is not None:
                    await self._archive.put(path, out)
        except OSError as error:
            raise ArchiveError("disk", str(error)) from error
        return length

    async def _spooled(
        self, out: IO[bytes], channels: int, parts: Sequence[RecordingPart]
    ) -> int | None:
        out.write(wav.header(channels, 0))
        per_ms, begins_ms = wav.bytes_per_ms(channels), None
        for part in sorted(parts, key=lambda part: part.began_ms):
            async with self._opened(part.name) as chunks:
                if chunks is None:
                    continue
                begins_ms = part.began_ms if begins_ms is None else begins_ms
                due = wav.HEADER_BYTES + (part.began_ms - begins_ms) * per_ms
                await asyncio.to_thread(_pad_with_silence, out, due)
                async for chunk in chunks:
                    await asyncio.to_thread(out.write, chunk)
        if begins_ms is None:
            return None
        return await asyncio.to_thread(_finish, out, channels)

    @asynccontextmanager
    async def _opened(self, name: str) -> AsyncIterator[AsyncIterator[bytes] | None]:
        address = URL(f"{self._url}/recordings/stored/{name}/file", encoded=True)
        try:
            async with self._http.get(address, timeout=_TIMEOUT) as reply:
                if reply.status == _NOT_FOUND:
                    yield None
                elif not reply.ok:
                    raise ArchiveError("pbx", f"status {reply.status}")
                else:
                    yield reply.content.iter_chunked(CHUNK_BYTES)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ArchiveError("pbx", str(error) or type(error).__name__) from error


def _open_temporary(folder: Path) -> IO[bytes]:
    """Open a file that is gone with its last user (blocking)."""
    return tempfile.TemporaryFile(dir=folder)


def _pad_with_silence(out: IO[bytes], until: int) -> None:
    """Write silence up to a place in the file (blocking)."""
    while (left := until - out.tell()) > 0:
        out.write(SILENCE[:left])


def _finish(out: IO[bytes], channels: int) -> int:
    """Complete the last frame, write the header, and tell the length (blocking)."""
    size = out.seek(0, 2)
    out.write(bytes(-(size - wav.HEADER_BYTES) % (wav.SAMPLE_BYTES * channels)))
    size = out.seek(0, 2)
    out.seek(0)
    out.write(wav.header(channels, size - wav.HEADER_BYTES))
    out.seek(0)
    return wav.duration_ms(channels, size)
