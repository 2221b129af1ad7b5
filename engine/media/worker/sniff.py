"""Detects an audio container by its first bytes; servers' content types are not trusted."""

from typing import Literal

HEAD_BYTES = 4096
PADDING = b"\0\r\n"  # before the first frame, as some editors and scripts leave it
# The fields of an MPEG audio frame's header (ISO 11172-3, 2.4.1.3); ADTS (ISO 13818-7) is alike.
FRAME_HEADER_BYTES = 4
SYNC_WORD = 0b111_1111_1111
RESERVED_VERSION = 0b01
ADTS, LAYER_III, LAYER_II = 0b00, 0b01, 0b10
FREE_BITRATE, BAD_BITRATE = 0b0000, 0b1111
RESERVED_SAMPLE_RATE = 0b11
ADTS_SYNC_WORD = 0b1111_1111_1111
MAX_ADTS_RATE = 12  # the indexes above are reserved

Container = Literal[
    "wav", "mp3", "ogg", "flac", "mov", "matroska", "amr", "aac", "aiff", "au", "caf"
]
_MAGIC: tuple[tuple[bytes, Container], ...] = (
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"\x1a\x45\xdf\xa3", "matroska"),
    (b"#!AMR\n", "amr"),
    (b"#!AMR-WB\n", "amr"),
    (b".snd", "au"),
    (b"caff", "caf"),
)


def detect_container(head: bytes) -> Container | None:
    """Return FFmpeg's demuxer name for a file that begins with `head`; None: not audio."""
    if head[:4] in {b"RIFF", b"RF64", b"BW64"} and head[8:12] == b"WAVE":
        return "wav"
    if head[:4] == b"FORM" and head[8:12] in {b"AIFF", b"AIFC"}:
        return "aiff"
    if head[4:8] == b"ftyp":
        return "mov"
    for magic, name in _MAGIC:
        if head.startswith(magic):
            return name
    frames = head.lstrip(PADDING)
    return "mp3" if frames.startswith(b"ID3") else _of_frame(frames)


def _of_frame(head: bytes) -> Container | None:
    """Return the demuxer of a file that begins with a frame: of layer II or III, or of AAC."""
    if len(head) < FRAME_HEADER_BYTES:
        return None
    header = int.from_bytes(head[:FRAME_HEADER_BYTES], "big")
    version, layer = header >> 19 & 0b11, header >> 17 & 0b11
    bitrate, sample_rate = header >> 12 & 0b1111, header >> 10 & 0b11
    if header >> 20 == ADTS_SYNC_WORD and layer == ADTS:
        return "aac" if (header >> 10 & 0b1111) <= MAX_ADTS_RATE else None
    is_mpeg = (
        header >> 21 == SYNC_WORD
        and version != RESERVED_VERSION
        and layer in {LAYER_II, LAYER_III}
        and bitrate not in {FREE_BITRATE, BAD_BITRATE}
        and sample_rate != RESERVED_SAMPLE_RATE
    )
    return "mp3" if is_mpeg else None
