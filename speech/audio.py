"""Audio of streams: frames of 20 ms and their level, cut from messages, and sample rates."""

from collections.abc import Iterator
from math import gcd

import numpy as np
from numpy.typing import NDArray

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


_ZERO_CROSSINGS = 12  # of the low-pass filter, at each side
_ROLL_OFF = 0.94  # of the lower rate's band


class Resampler:
    """A polyphase filter: a windowed sinc, one set of taps for each phase.

    Its delay is 1.5 ms at 8 kHz.
    """

    def __init__(self, rate: int, target: int) -> None:
        divisor = gcd(rate, target)
        self._up, self._down = target // divisor, rate // divisor
        self._phases = _phases(self._up, self._down)
        taps = self._phases.shape[1]
        self._waiting = np.zeros(taps - 1, np.float32)  # samples that further output needs
        self._next = 0  # the next output's place among them, in units of 1/up samples

    def resample(self, audio: bytes) -> bytes:
        """Return the audio that these samples complete; an odd byte at the end is ignored."""
        even = len(audio) // 2 * 2
        if self._up == self._down:
            return audio[:even]
        samples = np.frombuffer(audio[:even], "<i2").astype(np.float32)
        self._waiting = np.concatenate([self._waiting, samples])
        taps = self._phases.shape[1]
        usable = len(self._waiting) - taps + 1  # places where all taps have a sample
        places = np.arange(self._next, usable * self._up, self._down)
        if not len(places):
            return b""
        windows = np.lib.stride_tricks.sliding_window_view(self._waiting, taps)
        made = np.einsum("ij,ij->i", windows[places // self._up], self._phases[places % self._up])
        self._next = int(places[-1]) + self._down - usable * self._up
        self._waiting = self._waiting[usable:]
        output: bytes = made.round().clip(-32_768, 32_767).astype("<i2").tobytes()
        return output


def _phases(up: int, down: int) -> NDArray[np.float32]:
    """Return the taps of each phase, newest sample last."""
    width = _ZERO_CROSSINGS * max(1.0, down / up)  # at each side, in input samples
    cutoff = _ROLL_OFF * min(1.0, up / down)
    taps = 2 * int(np.ceil(width))
    offsets = np.arange(taps) - taps // 2 + 1  # of the samples around an output
    phases = np.arange(up)[:, np.newaxis] / up
    distance = offsets[np.newaxis, :] - phases
    window = np.cos(np.pi * distance / (2 * (width + 1))) ** 2
    kernel = cutoff * np.sinc(cutoff * distance) * window
    scaled: NDArray[np.float32] = (kernel / kernel.sum(axis=1, keepdims=True)).astype(np.float32)
    return scaled
