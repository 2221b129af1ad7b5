"""Speech as a caller's telephone sends it, from the project's own voices."""

import io
import wave
from functools import cache

import numpy as np

from engine.media.clip import MediaLimits
from engine.media.tts.espeak import find_espeak
from engine.media.tts.hibari import Hibari
from speech.audio.resampler import Resampler
from wire.media import Speech

_QUIET = 0.05  # of the loudest sample: less is the end of a word


class Voices:
    """Renders each text that is not among the rendered ones."""

    def __init__(self, rendered: dict[tuple[str, int], bytes]) -> None:
        self._neural = Hibari(MediaLimits(workers=1))
        self._rendered = rendered

    async def say(self, text: str, rate: int = 8000) -> bytes:
        """Return the samples of a text in the neural voice, without silence around it."""
        if (text, rate) not in self._rendered:
            wav = await self._neural.synthesize("acme", Speech(text))
            self._rendered[text, rate] = _trimmed(_resampled(wav, rate))
        return self._rendered[text, rate]

    async def close(self) -> None:
        await self._neural.close()


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
