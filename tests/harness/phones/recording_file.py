"""Reads an archived recording: which tone is on which side, and when."""

import wave
from pathlib import Path

import numpy as np

from tests.harness.phones.audio import AUDIBLE_LEVEL, RATE_HZ, Samples, level

Span = tuple[int, int]
LEFT, RIGHT = 0, 1  # sent by the leg, received by the leg
STEP_MS = 100  # whole periods of the tones of phones and of the ring tone
PER_MS = RATE_HZ // 1000


class RecordingFile:
    """A WAV file of 16 bits at 8 kHz, one or two channels."""

    def __init__(self, path: Path) -> None:
        with wave.open(str(path)) as file:
            self.channels = file.getnchannels()
            assert (file.getsampwidth(), file.getframerate()) == (2, RATE_HZ)
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        self.sides: list[Samples] = [
            samples[side :: self.channels] for side in range(self.channels)
        ]
        self.length_ms = len(self.sides[LEFT]) // PER_MS

    def spans(self, side: int, hz: int) -> list[Span]:
        """Return start and end of a tone on a side, in steps of 100 ms."""
        samples = self.sides[side]
        starts = range(0, self.length_ms - STEP_MS + 1, STEP_MS)
        heard = [
            ms
            for ms in starts
            if level(samples[ms * PER_MS :][: STEP_MS * PER_MS], hz) > AUDIBLE_LEVEL
        ]
        found: list[Span] = []
        for ms in heard:
            start = found.pop()[0] if found and found[-1][1] == ms else ms
            found.append((start, ms + STEP_MS))
        return found

    def heard_ms(self, side: int, hz: int) -> int:
        """Return the total length of a tone on a side."""
        return sum(end - start for start, end in self.spans(side, hz))
