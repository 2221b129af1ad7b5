"""Detects an audio container by its first bytes; servers' content types are not trusted."""

from typing import Literal

HEAD_BYTES = 64
# The fields of an MPEG audio frame's header (ISO 11172-3, 2.4.1.3).
FRAME_HEADER_BYTES = 4
SYNC_WORD = 0b111_1111_1111
RESERVED_VERSION = 0b01
LAYER_III = 0b01
FREE_BITRATE, BAD_BITRATE = 0b0000, 0b1111
RESERVED_SAMPLE_RATE = 0b11

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
    if len(head) < FRAME_HEADER_BYTES:
        return False
    header = int.from_bytes(head[:FRAME_HEADER_BYTES], "big")
    version, layer = header >> 19 & 0b11, header >> 17 & 0b11
    bitrate, sample_rate = header >> 12 & 0b1111, header >> 10 & 0b11
    return (
        header >> 21 == SYNC_WORD
        and version != RESERVED_VERSION
        and layer == LAYER_III
        and bitrate not in {FREE_BITRATE, BAD_BITRATE}
        and sample_rate != RESERVED_SAMPLE_RATE
    )
