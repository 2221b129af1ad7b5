"""Joins a PBX's recording parts into one WAV file in the archive."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import aiohttp
from msgspec import Struct
from yarl import URL

from base.http_client import failure_word
from engine.recordings import wav
from engine.recordings.archive import Archive
from engine.recordings.errors import ArchiveError

CHUNK_BYTES = 262_144
SILENCE = bytes(CHUNK_BYTES)
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=10)
_NOT_FOUND = 404


class RecordingPart(Struct, frozen=True):
    """One recorded part: its file name on the PBX, and its start, from that of its call."""

    name: str
    offset_ms: int


class RecordingArchiver:
    """Archives the recordings of one PBX; `ari_url` ends with /ari, `http` has its credentials."""

    def __init__(
        self, ari_url: str, http: aiohttp.ClientSession, archive: Archive, spool: Path
    ) -> None:
        self._url = ari_url
        self._http = http
        self._archive = archive
        self._spool = spool

    async def archive(self, path: str, channels: int, parts: Sequence[RecordingPart]) -> int | None:
        """Store the parts as one file, ordered by start, with silence in the gaps.

        Returns the duration in ms, or None if the PBX has none of the parts; raises ArchiveError.
        An existing file in the archive is kept: it is complete.
        """
        stored_bytes = await self._archive.size(path)
        if stored_bytes is not None:
            return wav.duration_ms(channels, stored_bytes)
        try:
            with await asyncio.to_thread(_open_temporary, self._spool) as out:
                duration_ms = await self._spool_parts(out, channels, parts)
                if duration_ms is not None:
                    await self._archive.put(path, out)
        except OSError as error:
            raise ArchiveError("disk", str(error)) from error
        return duration_ms

    async def _spool_parts(
        self, out: IO[bytes], channels: int, parts: Sequence[RecordingPart]
    ) -> int | None:
        out.write(wav.header(channels, 0))
        per_ms, first_ms = wav.bytes_per_ms(channels), None
        for part in sorted(parts, key=lambda part: part.offset_ms):
            async with self._open_part(part.name) as chunks:
                if chunks is None:
                    continue
                first_ms = part.offset_ms if first_ms is None else first_ms
                offset = wav.HEADER_BYTES + (part.offset_ms - first_ms) * per_ms
                await asyncio.to_thread(_pad_with_silence, out, offset)
                async for chunk in chunks:
                    await asyncio.to_thread(out.write, chunk)
        if first_ms is None:
            return None
        return await asyncio.to_thread(_finish, out, channels)

    @asynccontextmanager
    async def _open_part(self, name: str) -> AsyncIterator[AsyncIterator[bytes] | None]:
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
            raise ArchiveError("pbx", str(error) or failure_word(error)) from error


def _open_temporary(folder: Path) -> IO[bytes]:
    """Open an unnamed temporary file (blocking)."""
    return tempfile.TemporaryFile(dir=folder)


def _pad_with_silence(out: IO[bytes], offset: int) -> None:
    """Write silence up to an offset in the file (blocking)."""
    while (left := offset - out.tell()) > 0:
        out.write(SILENCE[:left])


def _finish(out: IO[bytes], channels: int) -> int:
    """Complete the last frame, write the header, and return the duration (blocking)."""
    size = out.seek(0, 2)
    out.write(bytes(-(size - wav.HEADER_BYTES) % (wav.SAMPLE_BYTES * channels)))
    size = out.seek(0, 2)
    out.seek(0)
    out.write(wav.header(channels, size - wav.HEADER_BYTES))
    out.seek(0)
    return wav.duration_ms(channels, size)
