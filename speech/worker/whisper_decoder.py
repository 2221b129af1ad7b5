"""Transcribes the utterances of one stream with Whisper; runs in a worker process."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from speech.audio import Resampler

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

MODEL_RATE = 16_000
_MAX_NO_SPEECH = 0.6  # probability above which a text is an invention
_FULL_SCALE = 32_768.0


def load_model(folder: Path) -> "WhisperModel":
    """Load a model in the format of CTranslate2 from a folder; nothing is downloaded."""
    from faster_whisper import WhisperModel  # noqa: PLC0415 - only workers of this kind have it

    return WhisperModel(
        str(folder), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )


class WhisperStream:
    """One stream: the audio of an utterance is kept until its end."""

    def __init__(self, rate: int, hints: str, model: "WhisperModel") -> None:
        self._resampler = Resampler(rate, MODEL_RATE)
        self._hints = hints
        self._model = model
        self._audio = bytearray()

    def feed(self, audio: bytes) -> None:
        self._audio += self._resampler.resample(audio)

    def heard(self) -> tuple[str, ...]:
        """Return nothing: a transcript needs the whole utterance."""
        return ()

    def finish(self) -> tuple[tuple[str, ...], float]:
        """Return the words of the utterance, and the mean confidence."""
        samples = np.frombuffer(bytes(self._audio), "<i2").astype(np.float32) / _FULL_SCALE
        self._audio.clear()
        if not len(samples):
            return (), 0.0
        parts, _ = self._model.transcribe(
            samples,
            language="en",
            beam_size=1,
            temperature=0,
            without_timestamps=True,
            condition_on_previous_text=False,
            hotwords=self._hints or None,
        )
        spoken = [each for each in parts if each.no_speech_prob < _MAX_NO_SPEECH]
        words = tuple(word for each in spoken for word in each.text.split())
        if not words:
            return (), 0.0
        mean = sum(each.avg_logprob for each in spoken) / len(spoken)
        return words, round(math.exp(min(0.0, mean)), 3)
