"""The WAV file that a caller of `switchroom dev call --save` keeps."""

import wave
from pathlib import Path

import numpy as np

from tests.harness.phones.audio import RATE_HZ, is_sound

_STEPS_PER_S = 10
_STEP = RATE_HZ // _STEPS_PER_S


def heard_ms(path: Path) -> int:
    """Return how much sound a file has."""
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    steps = range(0, len(samples), _STEP)
    return sum(is_sound(samples[start : start + _STEP]) for start in steps) * 1000 // _STEPS_PER_S
