"""The µ-law codec (ITU-T G.711, table 2), and WAV files of what was received."""

import sys
import wave
from array import array
from bisect import bisect_left
from pathlib import Path

RATE_HZ = 8_000
SILENCE = 0xFF
MAX_QUIET = 64  # a sample of silence that was encoded and decoded is no larger


def _value(code: int) -> int:
    inverted = ~code & 0xFF
    size = ((((inverted & 0x0F) << 3) + 0x84) << ((inverted & 0x70) >> 4)) - 0x84
    return -size if inverted & 0x80 else size


ULAW_VALUES = tuple(_value(code) for code in range(256))


_BY_VALUE = sorted((value, code) for code, value in enumerate(ULAW_VALUES))
_VALUES = [value for value, _ in _BY_VALUE]
_SAMPLE_BYTES = 2


def encoded(sample: int) -> int:
    """Return the code whose value is nearest to a sample of 16 bits."""
    after = bisect_left(_VALUES, sample)
    nearest = _BY_VALUE[max(0, after - 1) : after + 1]
    return min(nearest, key=lambda each: abs(each[0] - sample))[1]


def read_wav(path: Path) -> bytes:
    """Return a WAV of 16 bits, of any rate, mono or stereo, as µ-law; raises ValueError, OSError.

    Its samples are taken at the nearest times: good enough for a voice on a telephone.
    """
    try:
        with wave.open(str(path), "rb") as file:
            channels, rate_hz = file.getnchannels(), file.getframerate()
            if file.getsampwidth() != _SAMPLE_BYTES:
                raise ValueError("expected a WAV of 16 bits")
            samples = array("h", file.readframes(file.getnframes()))
    except (wave.Error, EOFError):
        raise ValueError("expected a WAV of 16 bits") from None
    if sys.byteorder == "big":
        samples.byteswap()
    count = len(samples) // channels * RATE_HZ // rate_hz
    places = (index * rate_hz // RATE_HZ * channels for index in range(count))
    return bytes(encoded(sum(samples[at : at + channels]) // channels) for at in places)


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
