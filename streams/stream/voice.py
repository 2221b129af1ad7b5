"""Decides whether a sound is a voice, with Silero's detector; it listens while audio is paused."""

from array import array
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial

from streams.stream.audio import AudioFormat, ulaw_sample
from streams.stream.voice_models import VoiceModel, VoiceModels

VOICE = 0.6  # of 0..1
VOICE_WINDOWS = 5  # of 32 ms; the 120 ms of a cough have fewer
_FULL_SCALE = 32768.0
_ULAW_FLOATS = tuple(ulaw_sample(code) / _FULL_SCALE for code in range(256))
_MODEL_RATES = (8000, 16000)
_MAX_WAITING_S = 1  # of a sound, until there is a detector


class VoiceJudge:
    """Listens to one sound, as soon as there is a detector for it."""

    def __init__(self, models: VoiceModels, audio: AudioFormat, rate: int) -> None:
        self._models = models
        self._model = models.take()
        self._audio = audio
        self._step = audio.rate // rate  # every so many samples are taken
        self._max_waiting = rate * _MAX_WAITING_S
        self._samples = array("f")
        self._voice_windows = 0

    def hear(self, frame: bytes) -> bool:
        """Take a frame of the caller's; return whether this is a voice."""
        self._samples.extend(_floats(frame, self._audio)[:: self._step])
        self._model = self._model or self._models.take()
        if self._model is None:
            del self._samples[: -self._max_waiting]
        else:
            self._judge(self._model)
        return self._voice_windows >= VOICE_WINDOWS

    def end(self) -> None:
        """Listen no more."""
        if self._model is not None:
            self._models.give_back(self._model)

    def _judge(self, model: VoiceModel) -> None:
        size = model.window_size_samples
        while len(self._samples) >= size:
            probability = model.process(self._samples[:size])
            del self._samples[:size]
            self._voice_windows = self._voice_windows + 1 if probability >= VOICE else 0


class VoiceJudges:
    """Lends judges, each for one sound; `create` makes a detector for a rate, run by `loader`."""

    def __init__(self, create: Callable[[int], VoiceModel], loader: Executor) -> None:
        self._models = {rate: VoiceModels(partial(create, rate), loader) for rate in _MODEL_RATES}

    def lend(self, audio: AudioFormat) -> VoiceJudge:
        """Return a judge for a new sound."""
        rate = audio.rate if audio.rate in _MODEL_RATES else _MODEL_RATES[0]
        return VoiceJudge(self._models[rate], audio, rate)


class SoundJudge:
    """Judges one caller's sounds, one after the other; it has a judge only while one is running."""

    def __init__(self, audio: AudioFormat, judges: VoiceJudges, memory: int) -> None:
        """`memory`: how many of the last frames are kept, as a sound is noticed late."""
        self._audio = audio
        self._judges = judges
        self._judge: VoiceJudge | None = None
        self._recent: deque[bytes] = deque(maxlen=memory)

    def hear(self, frame: bytes) -> bool:
        """Take a frame; return whether the running sound is a voice so far."""
        self._recent.append(frame)
        return self._judge is not None and self._judge.hear(frame)

    def begin(self, frames: int) -> None:
        """Judge what sounds now, with so many of the last frames; no-op if it is judged already."""
        if self._judge is None:
            self._judge = self._judges.lend(self._audio)
            for each in list(self._recent)[-frames:]:
                self._judge.hear(each)

    def end(self) -> None:
        """Judge no further."""
        if self._judge is not None:
            self._judge.end()
            self._judge = None


def _floats(frame: bytes, audio: AudioFormat) -> "array[float]":
    if audio.sample_bytes == 1:
        return array("f", map(_ULAW_FLOATS.__getitem__, frame))
    samples = array("h", frame)
    return array("f", [sample / _FULL_SCALE for sample in samples])
