"""Speech as a caller's telephone sends it, from the project's own voices."""

import asyncio
import io
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import numpy as np

from engine.media.clip import MediaLimits
from engine.media.tts import Hibari, find_espeak
from speech.audio import Resampler
from wire.media import Speech

_QUIET = 0.05  # of the loudest sample: less is the end of a word


class Voices:
    """Renders each text once.

    The voice's process, which loads for two seconds, belongs to an event loop. It has one in a
    thread of its own, because the loop of a test ends with the test.
    """

    def __init__(self, thread: ThreadPoolExecutor, runner: asyncio.Runner) -> None:
        self._neural = Hibari(MediaLimits(workers=1))
        self._thread = thread
        self._runner = runner
        self._rendered: dict[str, bytes] = {}

    async def say(self, text: str, rate: int = 8000) -> bytes:
        """Return the samples of a text in the neural voice, without silence around it."""
        if text not in self._rendered:
            rendering = self._neural.synthesize("acme", Speech(text))
            loop = asyncio.get_running_loop()
            self._rendered[text] = await loop.run_in_executor(
                self._thread, self._runner.run, rendering
            )
        return _trimmed(_resampled(self._rendered[text], rate))

    def close(self) -> None:
        """End the voice's process."""
        self._thread.submit(self._runner.run, self._neural.close()).result()


@contextmanager
def open_voices() -> Iterator[Voices]:
    """Provide the neural voice for many tests."""
    with ThreadPoolExecutor(1) as thread, asyncio.Runner() as runner:
        voices = Voices(thread, runner)
        yield voices
        voices.close()


async def espeak_says(text: str, rate: int = 8000) -> bytes:
    """Return the samples of a text in espeak's voice."""
    espeak = await find_espeak()
    assert espeak is not None
    return _trimmed(_resampled(await espeak.synthesize("acme", Speech(text)), rate))


def silence(length_ms: int, rate: int = 8000) -> bytes:
    """Return the noise of a quiet line."""
    samples = _noise()[: rate * length_ms // 1000]
    return samples.astype("<i2").tobytes()


@cache
def _noise() -> np.ndarray:
    return np.random.default_rng(1).normal(0, 8, 24_000 * 30)


def _resampled(wav: bytes, rate: int) -> bytes:
    with wave.open(io.BytesIO(wav)) as file:
        samples = file.readframes(file.getnframes())
        resampler = Resampler(file.getframerate(), rate)
    return resampler.resample(samples + bytes(2 * 100))  # what the filter keeps back


def _trimmed(audio: bytes) -> bytes:
    samples = np.frombuffer(audio, "<i2")
    loud = np.flatnonzero(np.abs(samples) > _QUIET * np.abs(samples).max())
    return samples[loud[0] : loud[-1] + 1].tobytes()
