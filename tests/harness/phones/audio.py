"""Generates and measures tones; encodes WAV.

Tones are multiples of 50 Hz: a frame of 20 ms has whole periods, so tones do not leak into each
other.
"""

import io
import wave
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tests.harness.until import SLACK_S

Samples = NDArray[np.int16]

RATE_HZ = 8000
FRAME_MS = 20
FRAME_SAMPLES = RATE_HZ * FRAME_MS // 1000
SWEEP_FROM_HZ, SWEEP_TO_HZ, SWEEP_BINS = 500, 3_500, 8192
SWEEP_MS = 10_000  # a longer sweep rises more slowly
AMPLITUDE = 8000
AUDIBLE_LEVEL = 800  # a tenth of the amplitude of phones
GAP_MS = 70  # three lost frames do not end a tone
STALL_MS = 400  # nor does a machine that sends nothing at all for so long
MAX_LATENESS_MS = 60  # tolerance of arrival times
RESUME_SLACK_MS = 400  # of a prompt's position, for all its stops on a busy machine
MAX_STOP_MS = SLACK_S * 1_000
MAX_INTERRUPTION_MS = 300  # in all: packets that a busy machine loses
CLICK_MS = 40  # shorter sounds are edges of other sounds
COUGH_MS = 120


class Frame(Struct, frozen=True):
    """20 ms of received audio: arrival (monotonic ms), RTP stream and timestamp, samples."""

    at_ms: float
    stream: int
    timestamp: int
    samples: Samples


class ToneSpan(Struct, frozen=True):
    """A tone, from arrival of its first frame to the end of its last; length_ms counts frames."""

    hz: int
    start_ms: float
    end_ms: float
    length_ms: int


def tone(hz: int, length_ms: int = FRAME_MS) -> Samples:
    moments = np.arange(RATE_HZ * length_ms // 1000) / RATE_HZ
    wave_form: Samples = (AMPLITUDE * np.sin(2 * np.pi * hz * moments)).astype(np.int16)
    return wave_form


def cough() -> Samples:
    """Return a noise that ebbs away."""
    size = RATE_HZ * COUGH_MS // 1000
    noise = np.random.default_rng(3).normal(0, 6_000, size)
    samples: Samples = (noise * np.linspace(1, 0.3, size)).astype(np.int16)
    return samples


def sweep(length_ms: int) -> Samples:
    """Return a tone whose pitch rises: `skips_ms` tells whether all of it is heard."""
    moments = np.arange(RATE_HZ * length_ms // 1000) / RATE_HZ
    phases = 2 * np.pi * (SWEEP_FROM_HZ * moments + _hz_per_s(length_ms) / 2 * moments**2)
    wave_form: Samples = (AMPLITUDE * np.sin(phases)).astype(np.int16)
    return wave_form


def skips_ms(frames: Iterable[Frame], length_ms: int = SWEEP_MS) -> list[float]:
    """Return by how much each frame of a sweep of this length is not the one after its predecessor.

    Silence between the frames does not count.
    """
    moments = _moments_ms(frames, length_ms)
    return [later - earlier - FRAME_MS for earlier, later in pairwise(moments)]


def assert_heard_in_order(frames: Iterable[Frame], length_ms: int) -> None:
    """Assert that a sweep is heard from its beginning, and no part of it left out or heard twice.

    Control stops a prompt and resumes it at its position, which takes as long as the PBX answers.
    """
    first, *later = moments = _moments_ms(frames, length_ms)
    due = range(0, len(moments) * FRAME_MS, FRAME_MS)
    late_ms = [heard - expected for heard, expected in zip(moments, due, strict=True)]
    assert first <= RESUME_SLACK_MS, moments
    assert later
    assert max(map(abs, late_ms)) <= RESUME_SLACK_MS, late_ms


def _moments_ms(frames: Iterable[Frame], length_ms: int) -> list[float]:
    """Return which moments of a sweep the middles of its frames are."""
    per_hz_ms = 1000 / _hz_per_s(length_ms)
    sounds = (each.samples for each in frames if is_sound(each.samples))
    return [(_pitch_hz(each) - SWEEP_FROM_HZ) * per_hz_ms for each in sounds]


def _hz_per_s(length_ms: int) -> float:
    return (SWEEP_TO_HZ - SWEEP_FROM_HZ) * 1000 / max(length_ms, SWEEP_MS)


def _pitch_hz(samples: Samples) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), SWEEP_BINS))
    return float(spectrum.argmax()) * RATE_HZ / SWEEP_BINS


def level(samples: Samples, hz: int) -> float:
    """Return the amplitude of one frequency (as the Goertzel algorithm does)."""
    if not len(samples):
        return 0.0
    moments = np.arange(len(samples)) / RATE_HZ
    spectrum = np.dot(samples.astype(np.float64), np.exp(-2j * np.pi * hz * moments))
    return float(2 * abs(spectrum) / len(samples))


def is_sound(samples: Samples) -> bool:
    """Return whether the samples are louder than silence."""
    return bool(len(samples)) and bool(np.sqrt(np.mean(samples.astype(np.float64) ** 2)) > 100)


def tones(frames: Iterable[Frame], candidates: Iterable[int]) -> list[ToneSpan]:
    """Return when which tones were received, ordered by start."""
    known = tuple(frames)
    found = [
        heard
        for hz in candidates
        for heard in spans(known, partial(_has_tone, hz=hz), hz)
        if heard.length_ms > CLICK_MS
    ]
    return sorted(found, key=lambda heard: heard.start_ms)


def _has_tone(frame: Frame, hz: int) -> bool:
    return level(frame.samples, hz) > AUDIBLE_LEVEL


def spans(frames: Iterable[Frame], is_part: Callable[[Frame], bool], hz: int = 0) -> list[ToneSpan]:
    """Join consecutive frames of a sound, by arrival or by RTP timestamp."""
    runs: list[list[Frame]] = []
    gap_ms = GAP_MS
    for frame in frames:
        if not is_part(frame):
            gap_ms = GAP_MS
            continue
        if runs and _follows(runs[-1][-1], frame, gap_ms):
            runs[-1].append(frame)
        else:
            runs.append([frame])
        gap_ms = STALL_MS  # until another frame arrives
    return [
        ToneSpan(hz, run[0].at_ms, run[-1].at_ms + FRAME_MS, len(run) * FRAME_MS) for run in runs
    ]


def assert_uninterrupted(heard: Sequence[ToneSpan]) -> None:
    """Assert a tone without repetition, and without interruptions but those of a busy machine."""
    assert heard
    lasted_ms = heard[-1].end_ms - heard[0].start_ms
    lost_ms = lasted_ms - sum(each.length_ms for each in heard)
    assert -MAX_LATENESS_MS <= lost_ms <= MAX_INTERRUPTION_MS, heard


def assert_heard_once(heard: Sequence[ToneSpan], length_ms: int) -> None:
    """Assert that a prompt of this length was heard completely, and no part of it twice.

    Control stops a prompt and resumes it at its position, which takes as long as the PBX answers.
    """
    assert abs(sum(each.length_ms for each in heard) - length_ms) <= RESUME_SLACK_MS, heard
    assert all(each <= MAX_STOP_MS for each in _gaps_ms(heard)), heard


def _gaps_ms(heard: Sequence[ToneSpan]) -> list[float]:
    return [after.start_ms - before.end_ms for before, after in pairwise(heard)]


def _follows(before: Frame, after: Frame, gap_ms: int) -> bool:
    if after.at_ms - before.at_ms <= gap_ms:
        return True
    passed_ms = (after.timestamp - before.timestamp) * 1000 // RATE_HZ
    return after.stream == before.stream and 0 < passed_ms <= GAP_MS


def wav(samples: Samples) -> bytes:
    """Encode as a mono WAV of 16 bits at 8 kHz."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()
