"""WAV files of 16 bits at 8 kHz, the PBX's recording format: header and duration."""

import struct

RATE_HZ = 8_000
SAMPLE_BYTES = 2
HEADER_BYTES = 44
_MAX_SIZE = 0xFFFF_FFFF  # the header's size field has 32 bits


def bytes_per_ms(channels: int) -> int:
    return RATE_HZ // 1000 * SAMPLE_BYTES * channels


def header(channels: int, data_bytes: int) -> bytes:
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


def duration_ms(channels: int, file_bytes: int) -> int:
    return max(0, file_bytes - HEADER_BYTES) // bytes_per_ms(channels)
