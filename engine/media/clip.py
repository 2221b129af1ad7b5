"""The clip, the only form in which audio is cached and played; its limits and its error."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Struct

from base.limit import Limit
from wire.media import Clip as Clip  # noqa: PLC0414 - re-exported: the result type of this package
from wire.media import Source

SAMPLE_RATE_HZ = 8_000
HEADER_BYTES = 44
BYTES_PER_MS = 16

Reason = Literal[
    "http_status",
    "not_audio",
    "not_found",
    "not_stored",
    "redirect",
    "refused_address",
    "speech_failed",
    "timeout",
    "too_large",
    "too_long",
    "unreachable",
    "unknown_language",
    "unreadable",
]


class OwnedSource(Struct, frozen=True):
    """An account's source. Accounts share no clip: an address may be a secret, or be signed."""

    account: str
    source: Source


class MadeClip(Struct, frozen=True):
    """A source's new clip (None: unchanged), how long it is fresh (None: forever), its origin.

    `is_silent`: nothing is heard of it, which may be meant.
    """

    clip: Clip | None
    fresh_ms: int | None
    etag: str = ""
    provider: str = ""
    is_silent: bool = False


class MediaError(Exception):
    """No clip could be made from a source: a reason for programs, a text for people."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason: Reason = reason
        self.text = text


# A megabyte takes 1.3 ms of the event loop, so an account's downloads take some 2 % of it.
DOWNLOAD_BYTES_PER_S: Annotated[
    int,
    Limit(
        "account",
        "wait",
        "Bytes of audio that an engine downloads for it in a second, after as many at once.",
    ),
] = 16_000_000


class MediaLimits(Struct, frozen=True):
    """Limits of a source's size and time, of the cache, and of retries."""

    download_bytes: int = 20 * 1024 * 1024
    download_s: float = 15
    connect_s: float = 5
    downloads: int = 200  # at once
    downloads_of_account: int = 20
    download_bytes_per_s: int = DOWNLOAD_BYTES_PER_S  # of an account
    clip_ms: int = 3_600_000
    job_s: float = 10
    start_s: float = 60  # of a worker; on a busy machine, its voice takes longer than a job may
    workers: int = 2  # of each kind: transcoding, large files, speech
    worker_memory_bytes: int = 1_500_000_000
    cache_bytes: int = 2 * 1024**3
    cache_sources: int = 100_000
    in_use_ms: int = 3_600_000
    dropped_ms: int = 60_000  # how long a clip without a source may still be fetched and played
    fresh_ms: int = 3_600_000
    retry_ms: int = 10_000
    prefetch_at_once: int = 16  # half of them for one account
    prefetch_waiting: int = 1_000
    prefetch_waiting_of_account: int = 250


def file_bytes(clip: Clip) -> int:
    """Return the size of a clip's file, from its duration."""
    return HEADER_BYTES + clip.duration_ms * BYTES_PER_MS


def duration_ms(file_bytes: int) -> int:
    """Return a clip's duration, from its file's size."""
    return round((file_bytes - HEADER_BYTES) / BYTES_PER_MS)


LEAD_IN_MS = 20
MAX_JOINED = 8  # clips: their keys are the address
MAX_JOINED_MS = 120_000  # 2 MB; a PBX keeps each list that it plays
_SILENCE = bytes(LEAD_IN_MS * BYTES_PER_MS)
_RIFF_SIZE, _DATA_SIZE = slice(4, 8), slice(40, 44)
_BEFORE_RIFF_SIZE = 8  # bytes that it does not count


def served_clip(clips: Sequence[bytes], *, has_lead_in: bool) -> bytes:
    """Return the WAV file of the WAV files of clips."""
    lead_in = _SILENCE if has_lead_in else b""
    samples = (each[HEADER_BYTES:] for each in clips)
    wav = bytearray(b"".join((clips[0][:HEADER_BYTES], lead_in, *samples)))
    wav[_RIFF_SIZE] = (len(wav) - _BEFORE_RIFF_SIZE).to_bytes(4, "little")
    wav[_DATA_SIZE] = (len(wav) - HEADER_BYTES).to_bytes(4, "little")
    return bytes(wav)
