"""Reads an archived recording through an engine, piece by piece.

A piece is a request of its own: a recognizer may take hours for a file, and engines are replaced
meanwhile.
"""

import struct
from collections.abc import AsyncIterator

import aiohttp
from msgspec import Struct

from api.common.errors import ApiError, NotFound, RangeNotSatisfiable
from api.common.recording_paths import RecordingPath
from api.engine_client import EngineClient
from api.transcripts.outcomes import Postponed, Untranscribable

PIECE_BYTES = 1_048_576  # half a minute of a call
NOT_ARCHIVED_DELAY_MS = 60_000
UNREACHABLE_DELAY_MS = 15_000
SAMPLE_BYTES = 2
RATES = (8_000, 16_000, 24_000)  # that recognizers take
MAX_CHANNELS = 2
_PCM = 1
_CHUNK = struct.Struct("<4sI")
_FORMAT = struct.Struct("<HHIIHH")


class WavFormat(Struct, frozen=True):
    """Where the samples are, and what they are: signed, of 16 bits, channel by channel."""

    channels: int
    rate: int
    start: int  # of the samples, in the file
    end: int

    @property
    def frame_bytes(self) -> int:
        """A sample of each channel."""
        return SAMPLE_BYTES * self.channels

    @property
    def duration_ms(self) -> int:
        return (self.end - self.start) * 1_000 // (self.frame_bytes * self.rate)


class Recording(Struct, frozen=True):
    engine: EngineClient
    path: RecordingPath
    format: WavFormat

    async def channel(self, channel: int) -> AsyncIterator[bytes]:
        """Yield the audio of a channel in messages of a second; raises Postponed."""
        frame_bytes = self.format.frame_bytes
        message_bytes = SAMPLE_BYTES * self.format.rate
        waiting = bytearray()
        step = PIECE_BYTES - PIECE_BYTES % frame_bytes
        for start in range(self.format.start, self.format.end, step):
            end = min(start + step, self.format.end)
            piece, _ = await read_piece(self.engine, self.path, start, end)
            if len(piece) != end - start:
                raise Untranscribable("unreadable", "the file is shorter than it was")
            waiting += channel_of(piece, self.format.channels, channel)
            while len(waiting) >= message_bytes:
                yield bytes(waiting[:message_bytes])
                del waiting[:message_bytes]
        if waiting:
            yield bytes(waiting)


async def open_recording(engine: EngineClient, path: RecordingPath, max_ms: int) -> Recording:
    """Read a recording's header; raises Postponed or Untranscribable."""
    beginning, file_bytes = await read_piece(engine, path, 0, PIECE_BYTES)
    found = parse_header(beginning, file_bytes)
    if found.duration_ms > max_ms:
        raise Untranscribable(
            "too_long",
            f"it is {found.duration_ms // 60_000} minutes long; at most {max_ms // 60_000}",
        )
    return Recording(engine, path, found)


async def read_piece(
    engine: EngineClient, path: RecordingPath, start: int, end: int
) -> tuple[bytes, int]:
    """Return a part of a file, and the size of the whole file."""
    part = {"Range": f"bytes={start}-{end - 1}"}
    try:
        async with engine.open(f"/recordings/{path.text}", {}, part) as reply:
            file_bytes = int(reply.headers.get("Content-Range", "").rpartition("/")[2] or 0)
            return await reply.read(), file_bytes
    except NotFound:
        raise Postponed(
            "not_archived", "the recording is not in the archive", NOT_ARCHIVED_DELAY_MS
        ) from None
    except RangeNotSatisfiable:
        raise Untranscribable("unreadable", "the file is empty") from None
    except (ApiError, aiohttp.ClientError, TimeoutError, ValueError):
        raise Postponed(
            "not_archived", "the archive cannot be read", UNREACHABLE_DELAY_MS
        ) from None


def parse_header(beginning: bytes, file_bytes: int) -> WavFormat:
    """Return the format of a file by its beginning; raises Untranscribable."""
    if beginning[:4] != b"RIFF" or beginning[8:12] != b"WAVE":
        raise Untranscribable("unreadable", "it is no WAV file")
    position, found = 12, None
    while position + _CHUNK.size <= len(beginning):
        name, size = _CHUNK.unpack_from(beginning, position)
        position += _CHUNK.size
        if name == b"fmt " and position + _FORMAT.size <= len(beginning):
            found = _FORMAT.unpack_from(beginning, position)
        elif name == b"data" and found is not None:
            return _format(found, position, min(position + size, file_bytes))
        position += size + size % 2  # chunks are padded to even sizes
    raise Untranscribable("unreadable", "its header has no format, or no samples follow")


def _format(found: tuple[int, ...], start: int, end: int) -> WavFormat:
    kind, channels, rate, _, _, bits = found
    if (kind, bits) != (_PCM, 8 * SAMPLE_BYTES):
        raise Untranscribable("unreadable", "its samples are not PCM of 16 bits")
    if rate not in RATES or not 0 < channels <= MAX_CHANNELS:
        raise Untranscribable("unreadable", f"it has {channels} channels of {rate} Hz")
    frame_bytes = SAMPLE_BYTES * channels
    return WavFormat(channels, rate, start, end - (end - start) % frame_bytes)


def channel_of(samples: bytes, channels: int, channel: int) -> bytes:
    """Return the samples of one channel; there are whole frames."""
    return samples if channels == 1 else memoryview(samples).cast("h")[channel::channels].tobytes()
