"""Detects what a phone receives now: tones of others by name, ringing, music, or nothing."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import AUDIBLE_LEVEL, FRAME_MS, FRAME_SAMPLES, RATE_HZ, Frame, level
from tests.harness.phones.phone import Phone

RECENT_MS = 200
MIN_FRAMES = 4  # of that time; fewer frames are the edge of a sound
RING_HZ = (440, 480)
RING_FRAMES = 5  # 100 ms: whole periods of the ring tone
MUSIC_MS = 700
MUSIC_SHARE = 0.25
QUIET = 60  # µ-law noise is lower; beside tones it is proportional
NOISE = 0.05

Sound = NDArray[np.float64]


class Listener:
    """Listens to one phone; `tones` are frequencies by name."""

    def __init__(self, phone: Phone, tones: Mapping[str, int]) -> None:
        self._phone = phone
        self._tones = tones

    def hears(self) -> frozenset[str]:
        """Return the names of what is received throughout the last 200 ms."""
        recent = self._recent_frames(RECENT_MS)
        if len(recent) < MIN_FRAMES:
            return frozenset()
        newest = np.concatenate([each.samples for each in recent[-RING_FRAMES:]])
        if all(level(newest, hz) > AUDIBLE_LEVEL for hz in RING_HZ):
            named = {name for name, hz in self._tones.items() if level(newest, hz) > AUDIBLE_LEVEL}
            return frozenset({"ringing", *named})
        waves = _waves(tuple(self._tones.values()))
        strength = np.median(np.abs(2 * _stack_frames(recent) @ waves / FRAME_SAMPLES), axis=0)
        named = {
            name for name, loud in zip(self._tones, strength > AUDIBLE_LEVEL, strict=True) if loud
        }
        return frozenset(
            {"music", *named} if _is_music(self._recent_frames(MUSIC_MS), waves) else named
        )

    def longest_gap_ms(self, name: str) -> int:
        """Return how much of a phone's tone is missing in one place, by that phone's timestamps."""
        frames = self._frames_with(name)
        pairs = [(a, b) for a, b in pairwise(frames) if a.stream == b.stream]
        steps = [(after.timestamp - before.timestamp) & 0xFFFFFFFF for before, after in pairs]
        return max(steps) * 1000 // RATE_HZ - FRAME_MS

    def first_ms(self, name: str, after_ms: float = 0) -> float:
        """Return when a tone was first received after a time."""
        return next(each.at_ms for each in self._frames_with(name) if each.at_ms > after_ms)

    def last_ms(self, name: str) -> float:
        """Return when a tone was last received."""
        return self._frames_with(name)[-1].at_ms

    def _frames_with(self, name: str) -> list[Frame]:
        hz = self._tones[name]
        return [each for each in self._phone.frames if level(each.samples, hz) > AUDIBLE_LEVEL]

    def _recent_frames(self, for_ms: int) -> list[Frame]:
        since_ms = now_ms() - for_ms
        latest = self._phone.frames[-2 * for_ms // FRAME_MS :]
        return [f for f in latest if f.at_ms > since_ms and len(f.samples) == FRAME_SAMPLES]


def _stack_frames(frames: list[Frame]) -> Sound:
    return np.stack([each.samples.astype(np.float64) for each in frames])


def _waves(tones_hz: tuple[int, ...]) -> NDArray[np.complex128]:
    moments = np.arange(FRAME_SAMPLES) / RATE_HZ
    waves: NDArray[np.complex128] = np.exp(-2j * np.pi * np.outer(moments, tones_hz))
    return waves


def _is_music(recent: list[Frame], waves: NDArray[np.complex128]) -> bool:
    """Return whether sound remains without the tones, in a share of frames: chords fade."""
    if not recent:
        return False  # they were recent when the tones were measured
    sound = _stack_frames(recent)
    rest = sound - np.real(2 * sound @ waves / FRAME_SAMPLES @ waves.conj().T)
    left, whole = (np.sqrt(np.mean(each**2, axis=1)) for each in (rest, sound))
    return bool(np.mean(left > np.maximum(QUIET, NOISE * whole)) > MUSIC_SHARE)
