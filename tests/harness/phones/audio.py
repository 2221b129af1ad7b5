"""Sound as numbers: tones made and measured, G.711 µ-law, WAV files.

Tones are multiples of 50 Hz: whole periods in a frame of 20 ms, so that they never leak into each
other.
"""

import io
import wave
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Samples = NDArray[np.int16]

RATE_HZ = 8000
FRAME_MS = 20
FRAME_SAMPLES = RATE_HZ * FRAME_MS // 1000
AMPLITUDE = 8000
AUDIBLE_LEVEL = 800  # a tenth of what phones speak with
GAP_MS = 70  # three lost frames do not end a tone
MAX_LATENESS_MS = 60  # by which arrivals may be late
CLICK_MS = 40  # what is no longer than this is the edge of another sound


class Frame(Struct, frozen=True):
    """20 ms of what was heard: when it came (monotonic ms), where in its stream, and the sound."""

    at_ms: float
    stream: int
    timestamp: int
    samples: Samples


class ToneSpan(Struct, frozen=True):
    """A tone from its first frame's arrival to its last frame's end; length_ms counts frames."""

    hz: int
    start_ms: float
    end_ms: float
    length_ms: int


def tone(hz: int, length_ms: int = FRAME_MS) -> Samples:
    """Make a tone."""
    moments = np.arange(RATE_HZ * length_ms // 1000) / RATE_HZ
    wave_form: Samples = (AMPLITUDE * np.sin(2 * np.pi * hz * moments)).astype(np.int16)
    return wave_form


def level(samples: Samples, hz: int) -> float:
    """Measure the amplitude of one frequency (the Goertzel algorithm's result)."""
    if not len(samples):
        return 0.0
    moments = np.arange(len(samples)) / RATE_HZ
    turned = np.dot(samples.astype(np.float64), np.exp(-2j * np.pi * hz * moments))
    return float(2 * abs(turned) / len(samples))


def is_sound(samples: Samples) -> bool:
    """Tell whether anything is heard at all."""
    return bool(len(samples)) and bool(np.sqrt(np.mean(samples.astype(np.float64) ** 2)) > 100)


def tones(frames: Iterable[Frame], candidates: Iterable[int]) -> list[ToneSpan]:
    """Say which tones were heard when, in order of their beginning."""
    listed = tuple(frames)
    found = [
        heard
        for hz in candidates
        for heard in spans([each for each in listed if level(each.samples, hz) > AUDIBLE_LEVEL], hz)
        if heard.length_ms > CLICK_MS
    ]
    return sorted(found, key=lambda heard: heard.start_ms)


def spans(frames: Sequence[Frame], hz: int = 0) -> list[ToneSpan]:
    """Join frames that follow one another, by arrival or by their stream's own clock."""
    runs: list[list[Frame]] = []
    for frame in frames:
        if runs and _follows(runs[-1][-1], frame):
            runs[-1].append(frame)
        else:
            runs.append([frame])
    return [
        ToneSpan(hz, run[0].at_ms, run[-1].at_ms + FRAME_MS, len(run) * FRAME_MS) for run in runs
    ]


def assert_uninterrupted(heard: Sequence[ToneSpan]) -> None:
    """Assert that a tone was heard once, without a gap and without anything heard twice."""
    assert len(heard) == 1, heard
    length_ms = heard[0].end_ms - heard[0].start_ms
    assert abs(heard[0].length_ms - length_ms) <= MAX_LATENESS_MS, heard


def _follows(before: Frame, after: Frame) -> bool:
    if after.at_ms - before.at_ms <= GAP_MS:
        return True
    passed_ms = (after.timestamp - before.timestamp) * 1000 // RATE_HZ
    return after.stream == before.stream and 0 < passed_ms <= GAP_MS


def wav(samples: Samples) -> bytes:
    """Write a mono WAV of 16 bits at 8 kHz."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


def to_ulaw(samples: Samples) -> bytes:
    """Encode as G.711 µ-law: the nearest of its 256 values."""
    order = np.argsort(_VALUES)
    values = _VALUES[order]
    middles = (values[:-1].astype(np.int32) + values[1:]) // 2
    return bytes(order[np.searchsorted(middles, samples)].astype(np.uint8))


def from_ulaw(data: bytes) -> Samples:
    """Decode G.711 µ-law."""
    decoded: Samples = _VALUES[np.frombuffer(data, np.uint8)]
    return decoded


def _ulaw_values() -> Samples:
    """Give the value of every code (ITU-T G.711, table 2)."""
    codes = ~np.arange(256, dtype=np.int32) & 0xFF
    sizes = ((((codes & 0x0F) << 3) + 0x84) << ((codes & 0x70) >> 4)) - 0x84
    values: Samples = np.where(codes & 0x80, -sizes, sizes).astype(np.int16)
    return values


_VALUES = _ulaw_values()
