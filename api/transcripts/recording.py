"""Reads an archived recording through an engine, piece by piece.

A piece is a request of its own: a recognizer may take hours for a file, and engines are replaced
meanwhile.
"""

from collections.abc import AsyncIterator

import aiohttp
from msgspec import Struct

from api.common.errors import ApiError, NotFound, RangeNotSatisfiable
from api.common.recording_paths import RecordingPath
from api.engine_client import EngineClient
from api.transcripts.outcomes import Postponed, Untranscribable
from api.transcripts.wav import SAMPLE_BYTES, WavFormat, channel_of, parse_header

PIECE_BYTES = 1_048_576  # half a minute of a call
NOT_ARCHIVED_DELAY_MS = 60_000
UNREACHABLE_DELAY_MS = 15_000


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
