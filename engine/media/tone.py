"""A beep, as a WAV file."""

import io
import math
import struct
import wave

from engine.media.clip import SAMPLE_RATE_HZ
from wire.media import Tone

AMPLITUDE = 8_000  # a quarter of what is possible: to be heard, not to be startled by


def beep(tone: Tone) -> bytes:
    """Make a tone of 16 bits, mono."""
    count = SAMPLE_RATE_HZ * tone.duration_ms // 1000
    turn = 2 * math.pi * tone.hz / SAMPLE_RATE_HZ
    samples = (round(AMPLITUDE * math.sin(turn * each)) for each in range(count))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes(struct.pack(f"<{count}h", *samples))
    return out.getvalue()
