"""Generates hold music without copyright: four soft chords in a loop."""

# ruff: noqa: INP001 - beside a script, not in a package

import math
import wave
from array import array
from pathlib import Path

RATE_HZ = 8000
CHORD_S = 2
CHORDS_HZ = (
    (220.00, 261.63, 329.63, 440.00),  # A minor
    (174.61, 261.63, 349.23, 440.00),  # F major
    (196.00, 261.63, 329.63, 392.00),  # C major
    (196.00, 246.94, 293.66, 392.00),  # G major
)


def write_music(path: Path) -> None:
    """Write the loop as 16-bit mono at 8 kHz unless it exists: 8 s, a chord every 2 s."""
    if path.exists():
        return
    samples = array("h")
    for chord in CHORDS_HZ:
        samples.extend(arpeggio(chord))
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE_HZ)
        out.writeframes(samples.tobytes())


def arpeggio(chord_hz: tuple[float, ...]) -> list[int]:
    """Return a chord whose notes start one after another and fade out before the next chord."""
    length = RATE_HZ * CHORD_S
    mixed = [0.0] * length
    for index, tone_hz in enumerate(chord_hz):
        start = index * length // 8
        step = 2 * math.pi * tone_hz / RATE_HZ
        for n in range(length - start):
            mixed[start + n] += math.sin(step * n) * pluck(n, length - start)
    return [int(2500 * value) for value in mixed]


def pluck(n: int, length: int) -> float:
    """Return the amplitude of a note at sample n: rises in 10 ms, then fades to 0."""
    return min(1.0, n / 80) * (1 - n / length) ** 2
