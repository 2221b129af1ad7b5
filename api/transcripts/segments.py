"""What was said: segments of a transcript, and the form in which they are stored."""

import zlib
from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

Channel = Literal["main", "other"]
CHANNELS: tuple[Channel, Channel] = ("main", "other")  # left and right; a voicemail has the first


class TranscriptSegment(Struct, frozen=True, rename="camel"):
    """What was understood of an utterance; times in milliseconds of the recording.

    `main`: the main leg said it; `other`: the main leg heard it.
    """

    channel: Channel
    start_ms: int
    end_ms: int
    text: str
    confidence: float


_decode = msgspec.json.Decoder(tuple[TranscriptSegment, ...]).decode


def in_order(segments: Iterable[TranscriptSegment]) -> tuple[TranscriptSegment, ...]:
    """Return the segments of all channels in order of time."""
    return tuple(sorted(segments, key=lambda each: (each.start_ms, each.end_ms, each.channel)))


def pack(segments: Iterable[TranscriptSegment]) -> bytes:
    """Return what is stored of segments."""
    return zlib.compress(msgspec.json.encode(tuple(segments)))


def unpack(stored: bytes | None) -> tuple[TranscriptSegment, ...]:
    """Return stored segments."""
    return _decode(zlib.decompress(stored)) if stored is not None else ()
