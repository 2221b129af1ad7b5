"""Detectors of voices, which are loaded beside the event loop, lent for a sound, and used again.

A detector takes longer to load than several frames last: in the loop, all conversations of the
gateway would stand still whenever many callers make a sound at once.
"""

from array import array
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Protocol

import structlog

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
