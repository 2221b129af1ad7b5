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

Samples = NDArray[np.int16]

RATE_HZ = 8000
FRAME_MS = 20
FRAME_SAMPLES = RATE_HZ * FRAME_MS // 1000
SWEEP_FROM_HZ, SWEEP_TO_HZ, SWEEP_BINS = 500, 3_500, 8192
SWEEP_MS = 10_000  # a longer sweep rises more slowly
AMPLITUDE = 8000
AUDIBLE_LEVEL = 800  # a tenth of the amplitude of phones
MAX_MISSING = 3  # frames within a tone that are lost, or not of it; more of them end it
STALL_MS = 1_000  # so long a busy machine sends nothing; its RTP timestamps show a longer pause
RESUME_SLACK_MS = 400  # of a prompt's position, for all its stops on a busy machine
CLICK_MS = 40  # shorter sounds are edges of other sounds
COUGH_MS = 120


class Frame(Struct, frozen=True):
    """20 ms of received audio: arrival (monotonic ms, by the kernel), the RTP header, samples."""

    at_ms: float
    stream: int
    sequence: int
    timestamp: int
    samples: Samples


class ToneSpan(Struct, frozen=True):
    """A tone, from the arrival of its first frame to the end of its last.

    Its length counts sequence numbers: it does not depend on arrival times, and packets that were
    lost on their way count. Of it, `missing_ms` were lost, or were another sound. By the RTP
    timestamps, nothing was sent for `paused_ms` in all.
    """

    hz: int
    start_ms: float
    end_ms: float
    length_ms: int
    missing_ms: int
    paused_ms: int


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


def swept_ms(frames: Iterable[Frame]) -> int:
    """Return how much of a sweep was heard."""
    return FRAME_MS * sum(is_sound(each.samples) for each in frames)


def assert_sweep_heard_once(frames: Sequence[Frame], length_ms: int) -> None:
    """Assert that a sweep was heard from its beginning to its end, each frame once and in order."""
    assert packets_lost(frames) == 0, "on their way to the phone"
    assert max(map(abs, skips_ms(frames, length_ms))) < FRAME_MS / 2
    assert abs(swept_ms(frames) - length_ms) <= 2 * FRAME_MS


def packets_lost(frames: Iterable[Frame]) -> int:
    """Return how many sequence numbers are missing."""
    pairs = ((a, b) for a, b in pairwise(frames) if a.stream == b.stream)
    return sum((after.sequence - before.sequence - 1) & 0xFFFF for before, after in pairs)


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
    """Join the frames of a sound that follow one another by RTP sequence number and timestamp."""
    runs: list[list[_Part]] = []
    others = 0
    for frame in frames:
        if not is_part(frame):
            others += 1
            continue
        part = _after(runs[-1][-1].frame, frame, others) if runs else None
        if part is None or part.missing > MAX_MISSING or part.paused_ms > STALL_MS:
            runs.append([_Part(frame, 0, 0)])
        else:
            runs[-1].append(part)
        others = 0
    return [_span(hz, run) for run in runs]


class _Part(Struct, frozen=True):
    """A frame of a sound: frames missing since the previous one, and how long nothing was sent."""

    frame: Frame
    missing: int
    paused_ms: int


def _after(before: Frame, frame: Frame, others: int) -> _Part:
    if frame.stream != before.stream:
        return _Part(frame, others, _whole_frames_ms(frame.at_ms - before.at_ms, others))
    missing = max(others, (frame.sequence - before.sequence - 1) & 0xFFFF)
    passed_ms = (frame.timestamp - before.timestamp) * 1000 / RATE_HZ
    return _Part(frame, missing, _whole_frames_ms(passed_ms, missing))


def _whole_frames_ms(passed_ms: float, missing: int) -> int:
    """Return for how many frames nothing was sent; less is a change of the PBX's clock."""
    return max(0, int(passed_ms / FRAME_MS) - missing - 1) * FRAME_MS


def _span(hz: int, run: Sequence[_Part]) -> ToneSpan:
    missing = sum(each.missing for each in run)
    first, last = run[0].frame, run[-1].frame
    return ToneSpan(
        hz,
        start_ms=first.at_ms,
        end_ms=last.at_ms + FRAME_MS,
        length_ms=(len(run) + missing) * FRAME_MS,
        missing_ms=missing * FRAME_MS,
        paused_ms=sum(each.paused_ms for each in run),
    )


def assert_uninterrupted(heard: Sequence[ToneSpan]) -> None:
    """Assert one tone in which nothing else was heard, and no packet is missing."""
    assert [each.missing_ms for each in heard] == [0], heard


def assert_all_forwarded(heard: Sequence[ToneSpan]) -> None:
    """Assert that the PBX has sent each frame of a phone: its RTP timestamps are that phone's."""
    assert_uninterrupted(heard)
    assert heard[0].paused_ms == 0, heard


def assert_heard_once(heard: Sequence[ToneSpan], length_ms: int) -> None:
    """Assert that a prompt of this length was heard completely, and no part of it twice.

    Control stops a prompt and resumes it at its position, which takes as long as the PBX answers.
    """
    assert abs(sum(each.length_ms for each in heard) - length_ms) <= RESUME_SLACK_MS, heard


def wav(samples: Samples) -> bytes:
    """Encode as a mono WAV of 16 bits at 8 kHz."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()
