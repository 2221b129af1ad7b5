"""Detects an audio container by its first bytes; servers' content types are not trusted."""

from typing import Literal

HEAD_BYTES = 64

Container = Literal["wav", "mp3", "ogg", "flac", "mov", "matroska", "amr"]
_MAGIC: tuple[tuple[bytes, Container], ...] = (
    (b"ID3", "mp3"),
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
    (b"#!AMR\n", "amr"),
    (b"#!AMR-WB\n", "amr"),
)


def detect_container(head: bytes) -> Container | None:
    """Return FFmpeg's demuxer name for a file that begins with `head`; None: not audio."""
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "wav"
    if head[4:8] == b"ftyp":
        return "mov"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    return "mp3" if _is_mp3_frame(head) else None


def _is_mp3_frame(head: bytes) -> bool:
    """Return whether `head` is an MPEG layer III frame header (ISO 11172-3, 2.4.1.3)."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:  # noqa: PLR2004 - sync word
        return False
    is_version, is_layer_3 = head[1] & 0x18 != 0x08, head[1] & 0x06 == 0x02  # noqa: PLR2004 - fields
    bitrate, rate = head[2] >> 4, head[2] >> 2 & 0x03
    return is_version and is_layer_3 and 0 < bitrate < 15 and rate != 3  # noqa: PLR2004 - reserved
