"""Moves recordings from a PBX to the archive: a directory, or an S3 bucket.

A partial file is never visible. What fails is repeated, and nothing is lost.
"""

import asyncio
import re
import struct
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, Literal

import aiohttp
import obstore
from msgspec import Struct
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, S3Store
from yarl import URL

from base.http_client import failure_word

READ_BYTES = 65_536
RETRY_TIMEOUT_S = 8  # shorter than a call waits for its recording


class Archive:
    """Stores recordings; `open_archive` creates it."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    async def size(self, path: str) -> int | None:
        """Return a file's size in bytes, or None if it does not exist; raises ArchiveError."""
        try:
            return (await obstore.head_async(self._store, path))["size"]
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error

    async def read(self, path: str, start: int, end: int) -> AsyncIterator[bytes]:
        """Yield a part of a file, without its `end`; raises ArchiveError."""
        try:
            found = await obstore.get_async(self._store, path, options={"range": (start, end)})
            async for chunk in found.stream(min_chunk_size=READ_BYTES):
                yield bytes(chunk)
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error

    async def delete(self, path: str) -> None:
        """Delete a file, if it exists; raises ArchiveError."""
        try:
            await obstore.delete_async(self._store, path)
        except FileNotFoundError:
            return
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error

    async def put(self, path: str, file: IO[bytes]) -> None:
        """Store a file atomically; raises ArchiveError."""
        try:
            await obstore.put_async(self._store, path, file)
        except (BaseError, OSError) as error:
            raise ArchiveError("archive", str(error)) from error


def open_archive(url: str, s3: Mapping[str, str]) -> Archive:
    """Open a directory (`file:///…`) or a bucket (`s3://bucket/prefix`, with S3's settings)."""
    if url.startswith("file://"):
        folder = Path(url.removeprefix("file://"))
        folder.mkdir(parents=True, exist_ok=True)
        return Archive(LocalStore(folder, mkdir=True))
    store = S3Store.from_url(
        url.rstrip("/"),
        config=dict(s3),  # type: ignore[arg-type]  # the store checks the names
        client_options={
            "timeout": "60s",
            "connect_timeout": "5s",
            # Only if an address of these settings says so: recordings are personal data.
            "allow_http": any(each.startswith("http://") for each in s3.values()),
        },
        retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=RETRY_TIMEOUT_S)},
    )
    return Archive(store)


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
            return wav_duration_ms(channels, stored_bytes)
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
        out.write(wav_header(channels, 0))
        per_ms, first_ms = bytes_per_ms(channels), None
        for part in sorted(parts, key=lambda part: part.offset_ms):
            async with self._open_part(part.name) as chunks:
                if chunks is None:
                    continue
                first_ms = part.offset_ms if first_ms is None else first_ms
                offset = HEADER_BYTES + (part.offset_ms - first_ms) * per_ms
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
    out.write(bytes(-(size - HEADER_BYTES) % (SAMPLE_BYTES * channels)))
    size = out.seek(0, 2)
    out.seek(0)
    out.write(wav_header(channels, size - HEADER_BYTES))
    out.seek(0)
    return wav_duration_ms(channels, size)


class ArchiveError(Exception):
    """A recording could not be fetched from its `pbx` or stored in the `archive`."""

    def __init__(self, fault: Literal["pbx", "archive", "disk", "busy"], text: str) -> None:
        super().__init__(f"{fault}: {text}")
        self.fault = fault


RATE_HZ = 8_000
SAMPLE_BYTES = 2
HEADER_BYTES = 44
_MAX_SIZE = 0xFFFF_FFFF  # the header's size field has 32 bits


def bytes_per_ms(channels: int) -> int:
    return RATE_HZ // 1000 * SAMPLE_BYTES * channels


def wav_header(channels: int, data_bytes: int) -> bytes:
    """Return the RIFF header of a PCM file with `data_bytes` of samples."""
    frame_bytes = SAMPLE_BYTES * channels
    data_bytes = min(data_bytes, _MAX_SIZE - HEADER_BYTES)
    shape = (1, channels, RATE_HZ, RATE_HZ * frame_bytes, frame_bytes, 8 * SAMPLE_BYTES)
    return b"".join(
        (
            struct.pack("<4sI4s", b"RIFF", data_bytes + HEADER_BYTES - 8, b"WAVE"),
            struct.pack("<4sIHHIIHH", b"fmt ", 16, *shape),
            struct.pack("<4sI", b"data", data_bytes),
        )
    )


def wav_duration_ms(channels: int, file_bytes: int) -> int:
    return max(0, file_bytes - HEADER_BYTES) // bytes_per_ms(channels)


_ONE = re.compile(r"bytes=\s*(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))\s*", re.IGNORECASE)


class Unsatisfiable(Exception):
    """The range has no byte of the file."""


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """Return the first byte of a part, and the one behind it; None: all of the file is sent.

    A header that is not understood is ignored (section 14.2), and so are several ranges. Raises
    Unsatisfiable, also for the last zero bytes (section 14.1.2).
    """
    found = _ONE.fullmatch(header)
    if found is None:
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        start, stop = max(0, size - int(suffix)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None  # section 14.1.1: it is invalid
    if start >= stop:
        raise Unsatisfiable
    return start, stop
