"""Frames of 20 ms, cut from messages of any size, and their level."""

from collections.abc import Iterator

import numpy as np

FRAME_MS = 20
SAMPLE_BYTES = 2
SILENCE_DB = -96.0  # digital silence: the least of 16 bits
_FULL_SCALE = 32_768.0


class FrameCutter:
    """Cuts audio into frames; what is left of a message waits for the next one."""

    def __init__(self, rate: int) -> None:
        self._frame_bytes = rate * FRAME_MS // 1000 * SAMPLE_BYTES
        self._rest = b""

    def cut(self, audio: bytes) -> Iterator[bytes]:
        if len(audio) == self._frame_bytes and not self._rest:
            yield audio
            return
        waiting = self._rest + audio
        end = len(waiting) - len(waiting) % self._frame_bytes
        self._rest = waiting[end:]
        for start in range(0, end, self._frame_bytes):
            yield waiting[start : start + self._frame_bytes]


def level_db(frame: bytes) -> float:
    """Return the level of a frame in decibels relative to full scale."""
    samples = np.frombuffer(frame, "<i2").astype(np.float32)
    power = float(samples @ samples) / len(samples)
    if power < 1:
        return SILENCE_DB
    return max(SILENCE_DB, 10 * float(np.log10(power / _FULL_SCALE**2)))
