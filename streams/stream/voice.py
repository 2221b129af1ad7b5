"""Decides whether a sound is a voice, with Silero's detector; it listens while audio is paused."""

from array import array
from collections import deque
from collections.abc import Callable
from typing import Protocol

from streams.stream.audio import AudioFormat, ulaw_sample

VOICE = 0.6  # of 0..1
VOICE_WINDOWS = 5  # of 32 ms; the 120 ms of a cough have fewer
_FULL_SCALE = 32768.0
_ULAW_FLOATS = tuple(ulaw_sample(code) / _FULL_SCALE for code in range(256))
_MODEL_RATES = (8000, 16000)
MAX_IDLE = 4  # models that are kept for the next sound, per rate


class VoiceModel(Protocol):
    """A detector; each window continues the one before."""

    @property
    def window_size_samples(self) -> int: ...

    def process(self, data: "array[float]") -> float: ...

    def reset(self) -> None: ...


class VoiceJudge:
    """Listens to one sound."""

    def __init__(self, model: VoiceModel, audio: AudioFormat, step: int) -> None:
        self._model = model
        self._audio = audio
        self._step = step  # every so many samples are taken: the rate of the model is lower
        self._samples = array("f")
        self._voice_windows = 0

    @property
    def model(self) -> VoiceModel:
        return self._model

    def hear(self, frame: bytes) -> bool:
        """Take a frame of the caller's; return whether this is a voice."""
        self._samples.extend(_floats(frame, self._audio)[:: self._step])
        size = self._model.window_size_samples
        while len(self._samples) >= size:
            probability = self._model.process(self._samples[:size])
            del self._samples[:size]
            self._voice_windows = self._voice_windows + 1 if probability >= VOICE else 0
        return self._voice_windows >= VOICE_WINDOWS


class VoiceJudges:
    """Lends judges: a model takes longer to load than a frame lasts, so they are used again."""

    def __init__(self, create: Callable[[int], VoiceModel]) -> None:
        self._create = create
        self._idle: dict[int, list[VoiceModel]] = {rate: [create(rate)] for rate in _MODEL_RATES}

    def lend(self, audio: AudioFormat) -> VoiceJudge:
        """Return a judge for a new sound; it is given back."""
        rate = audio.rate if audio.rate in _MODEL_RATES else _MODEL_RATES[0]
        idle = self._idle[rate]
        model = idle.pop() if idle else self._create(rate)
        model.reset()
        return VoiceJudge(model, audio, audio.rate // rate)

    def give_back(self, judge: VoiceJudge, audio: AudioFormat) -> None:
        """Take a judge whose sound is over."""
        idle = self._idle[audio.rate if audio.rate in _MODEL_RATES else _MODEL_RATES[0]]
        if len(idle) < MAX_IDLE:
            idle.append(judge.model)


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
            self._judges.give_back(self._judge, self._audio)
            self._judge = None


def _floats(frame: bytes, audio: AudioFormat) -> "array[float]":
    if audio.sample_bytes == 1:
        return array("f", map(_ULAW_FLOATS.__getitem__, frame))
    samples = array("h", frame)
    return array("f", [sample / _FULL_SCALE for sample in samples])
