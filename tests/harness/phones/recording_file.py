"""A recording that was filed: its file, and which tone is heard on which side when."""

import wave
from pathlib import Path

import numpy as np

from tests.harness.phones.audio import AUDIBLE_LEVEL, RATE_HZ, Samples, level

Span = tuple[int, int]
LEFT, RIGHT = 0, 1  # what the leg said, what it heard
STEP_MS = 100  # whole periods of every tone that phones and the ring tone have
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
        """Say from when to when a tone is heard on a side, in steps of 100 ms."""
        samples = self.sides[side]
        begins = range(0, self.length_ms - STEP_MS + 1, STEP_MS)
        heard = [
            ms
            for ms in begins
            if level(samples[ms * PER_MS :][: STEP_MS * PER_MS], hz) > AUDIBLE_LEVEL
        ]
        found: list[Span] = []
        for ms in heard:
            begin = found.pop()[0] if found and found[-1][1] == ms else ms
            found.append((begin, ms + STEP_MS))
        return found

    def heard_ms(self, side: int, hz: int) -> int:
        """Say for how long a tone is heard on a side."""
        return sum(end - begin for begin, end in self.spans(side, hz))
