"""WAV files of 16 bits at 8 kHz, as a PBX writes its tapes: the header, and how long they are."""

import struct

RATE_HZ = 8_000
SAMPLE_BYTES = 2
HEADER_BYTES = 44
_MAX_SIZE = 0xFFFF_FFFF  # what the header can say


def bytes_per_ms(channels: int) -> int:
    """Tell how many bytes a millisecond takes."""
    return RATE_HZ // 1000 * SAMPLE_BYTES * channels


def header(channels: int, data_bytes: int) -> bytes:
    """Make the header of a file with so many bytes of samples (RIFF, PCM)."""
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
    """Tell how long a file plays."""
    return max(0, file_bytes - HEADER_BYTES) // bytes_per_ms(channels)
