"""Speech of callers: hibari's voice at the rate of telephones."""

import asyncio
from functools import cache

import numpy as np
from hibari import Hibari
from hibari.voices import voice_path

from tests.harness.phones.audio import RATE_HZ, Samples

_NAME = "heart"
_VOICE_HZ = 24_000
_STEP = _VOICE_HZ // RATE_HZ
_TAPS = 63  # of the filter that keeps frequencies which 8 kHz can't carry out
_CUTOFF = 0.45  # of the rate of telephones
_AUDIBLE = 0.01  # of full scale


async def spoken(text: str) -> Samples:
    """Return a text as speech that begins with a sound; the event loop goes on."""
    return await asyncio.to_thread(_spoken, text)


@cache
def _spoken(text: str) -> Samples:
    audio = _voice()(text, seed=0)
    places = np.arange(_TAPS) - _TAPS // 2
    low_pass = np.sinc(places * 2 * _CUTOFF / _STEP) * np.hamming(_TAPS)
    filtered = np.convolve(audio, low_pass / low_pass.sum(), mode="same")[::_STEP]
    first = int(np.argmax(np.abs(filtered) > _AUDIBLE))
    speech: Samples = (np.clip(filtered[first:], -1, 1) * 32_767).astype(np.int16)
    return speech


@cache
def _voice() -> Hibari:
    return Hibari(_NAME, model=voice_path(_NAME, download_missing=False), threads=1)
