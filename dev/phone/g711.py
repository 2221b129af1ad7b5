"""The µ-law codec (ITU-T G.711, table 2), and WAV files of what was received."""

import wave
from array import array
from pathlib import Path

RATE_HZ = 8_000
SILENCE = 0xFF
MAX_QUIET = 64  # a sample of silence that was encoded and decoded is no larger


def _value(code: int) -> int:
    inverted = ~code & 0xFF
    size = ((((inverted & 0x0F) << 3) + 0x84) << ((inverted & 0x70) >> 4)) - 0x84
    return -size if inverted & 0x80 else size


ULAW_VALUES = tuple(_value(code) for code in range(256))


def write_wav(path: Path, codes: bytes) -> None:
    """Write a mono WAV of 16 bits."""
    with path.open("wb") as out, wave.open(out) as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(array("h", map(ULAW_VALUES.__getitem__, codes)).tobytes())


def sound_s(codes: bytes) -> float:
    """Return how many seconds are louder than silence, in frames of 20 ms."""
    frame = RATE_HZ // 50
    loud = sum(
        any(abs(ULAW_VALUES[code]) > MAX_QUIET for code in codes[start : start + frame])
        for start in range(0, len(codes), frame)
    )
    return loud / 50
