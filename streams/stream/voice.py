"""Decides whether a sound is a voice, with Silero's detector; it listens while audio is paused."""

from array import array
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import nullcontext
from copy import copy
from functools import partial
from typing import Protocol

import structlog

from streams.bots.loop_shares import LoopShare
from streams.stream.audio import AudioFormat, ulaw_sample

SPARE = 2  # that are ready for the next sounds
MAX_IDLE = 16  # that are kept, 10 MB each

log = structlog.get_logger()


class VoiceModel(Protocol):
    """A detector; each window continues the one before."""

    @property
    def window_size_samples(self) -> int: ...

    def process(self, data: "array[float]") -> float: ...

    def reset(self) -> None: ...


class VoiceModels:
    """The detectors for one rate; `loader` runs what takes long."""

    def __init__(self, load: Callable[[], VoiceModel], loader: Executor) -> None:
        """Load the first one at once: a fault of it is one of the process."""
        self._load = load
        self._loader = loader
        self._loading: list[Future[VoiceModel]] = []
        self._idle = deque([load()])  # on the right, what was used last
        self._prepare()

    def take(self) -> VoiceModel | None:
        """Return a detector for a new sound; None: one is being loaded, so ask again."""
        self._collect()
        model = self._idle.pop() if self._idle else None
        self._prepare()
        if model is not None:
            model.reset()
        return model

    def give_back(self, model: VoiceModel) -> None:
        """Take a detector whose sound is over."""
        if len(self._idle) < MAX_IDLE:
            self._idle.append(model)

    def _collect(self) -> None:
        for loaded in [each for each in self._loading if each.done()]:
            self._loading.remove(loaded)
            if error := loaded.exception():  # sounds without a detector end no audio
                log.error("voice model not loaded", exc_info=error)
            else:
                self._idle.appendleft(loaded.result())

    def _prepare(self) -> None:
        ready = len(self._idle) + len(self._loading)
        for _ in range(SPARE - ready):
            self._loading.append(self._loader.submit(self._load))


VOICE = 0.6  # of 0..1
VOICE_WINDOWS = 5  # of 32 ms; the 120 ms of a cough have fewer
_FULL_SCALE = 32768.0
_ULAW_FLOATS = tuple(ulaw_sample(code) / _FULL_SCALE for code in range(256))
_MODEL_RATES = (8000, 16000)
_MAX_WAITING_S = 1  # of a sound, until there is a detector


class VoiceJudge:
    """Listens to one sound, as soon as there is a detector for it, and time of its account's."""

    def __init__(
        self, models: VoiceModels, audio: AudioFormat, rate: int, share: LoopShare | None
    ) -> None:
        self._models = models
        self._model = models.take()
        self._share = share
        self._audio = audio
        self._step = audio.rate // rate  # every so many samples are taken
        self._max_waiting = rate * _MAX_WAITING_S
        self._samples = array("f")
        self._voice_windows = 0

    def hear(self, frame: bytes) -> bool:
        """Take a frame of the caller's; return whether this is a voice."""
        self._samples.extend(_floats(frame, self._audio)[:: self._step])
        self._model = self._model or self._models.take()
        if self._model is None or (self._share is not None and self._share.is_used_up):
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
        if len(self._samples) < size:
            return
        with nullcontext() if self._share is None else self._share.charge():
            self._judge_windows(model, size)

    def _judge_windows(self, model: VoiceModel, size: int) -> None:
        while len(self._samples) >= size:
            probability = model.process(self._samples[:size])
            del self._samples[:size]
            self._voice_windows = self._voice_windows + 1 if probability >= VOICE else 0


class VoiceJudges:
    """Lends judges, each for one sound; `create` makes a detector for a rate, run by `loader`."""

    def __init__(self, create: Callable[[int], VoiceModel], loader: Executor) -> None:
        self._models = {rate: VoiceModels(partial(create, rate), loader) for rate in _MODEL_RATES}
        self._share: LoopShare | None = None

    def charged_to(self, share: LoopShare) -> "VoiceJudges":
        """Return the same for one account, which pays for them."""
        charged = copy(self)
        charged._share = share  # noqa: SLF001 - a copy of its own
        return charged

    def lend(self, audio: AudioFormat) -> VoiceJudge:
        """Return a judge for a new sound."""
        rate = audio.rate if audio.rate in _MODEL_RATES else _MODEL_RATES[0]
        return VoiceJudge(self._models[rate], audio, rate, self._share)


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
