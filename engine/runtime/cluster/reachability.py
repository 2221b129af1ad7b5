"""Which nodes this engine reaches, as it tells the other engines: slow to trust, slow to forgive.

Other engines act on it: who alone misses a node hands its slots over (`peers.py`). So a node that
dies or begins must look the same to all of them: one that hears it is believed only after every
other has had the time to hear it, too.
"""

from collections.abc import Callable

import structlog
from msgspec import Struct

log = structlog.get_logger()
DEAF_S = 1.4  # without an answer, and two questions in a row were in vain: a stall loses only one
STEADY_S = 5.0  # of answers, and one that was deaf is not any more: others may miss none at all
TRUSTED_S = 8.0  # of answers only, and it counts against those that are deaf


class _Ear(Struct):
    """What is known of one node; seconds."""

    last_s: float  # of the last answer, or when it was first asked
    since_s: float | None = None  # from when on every question was answered
    steady_s: float | None = None  # from when on no two in a row were in vain
    missed: int = 0
    is_deaf: bool = False


class Reach:
    """What the questions to each node came to; `monotonic` gives seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.on_change: Callable[[], None] = _nothing  # what others should know at once
        self._monotonic = monotonic
        self._ears: dict[str, _Ear] = {}

    @property
    def hears(self) -> tuple[str, ...]:
        """Name the nodes that have answered for long enough to be believed in."""
        trusted_s = self._monotonic() - TRUSTED_S
        ears = self._ears.items()
        return tuple(sorted(n for n, e in ears if e.since_s is not None and e.since_s <= trusted_s))

    @property
    def deaf(self) -> tuple[str, ...]:
        """Name the nodes that this engine can't reach, or could not until a moment ago."""
        return tuple(sorted(name for name, ear in self._ears.items() if ear.is_deaf))

    @property
    def unheard(self) -> tuple[str, ...]:
        """Name these, and those whose last question was in vain or is the first."""
        ears = self._ears.items()
        return tuple(sorted(name for name, ear in ears if ear.is_deaf or ear.since_s is None))

    def begin(self, node: str) -> None:
        """Know of a node that will be asked."""
        self._ears[node] = _Ear(self._monotonic())

    def note(self, node: str, is_answered: bool) -> None:
        """Take what a question came to."""
        ear, now_s = self._ears[node], self._monotonic()
        was_silent, was_deaf = ear.since_s is None, ear.is_deaf
        if is_answered:
            _answered(ear, now_s)
        else:
            _missed(ear, now_s)
        if ear.is_deaf != was_deaf:
            _told(node, ear)
        if (ear.since_s is None, ear.is_deaf) != (was_silent, was_deaf):
            self.on_change()

    def end(self, node: str) -> None:
        """Forget a node."""
        self._ears.pop(node, None)


def _answered(ear: _Ear, now_s: float) -> None:
    ear.last_s, ear.missed = now_s, 0
    if ear.since_s is None:
        ear.since_s = now_s
    if ear.steady_s is None:
        ear.steady_s = now_s
    ear.is_deaf = ear.is_deaf and now_s - ear.steady_s < STEADY_S


def _missed(ear: _Ear, now_s: float) -> None:
    ear.missed += 1
    ear.since_s = None
    if ear.missed > 1:
        ear.steady_s = None
        ear.is_deaf = ear.is_deaf or now_s - ear.last_s >= DEAF_S


def _told(node: str, ear: _Ear) -> None:
    if ear.is_deaf:
        log.warning("node can't be reached", node=node, questions=ear.missed)
    else:
        log.info("node is reached again", node=node)


def _nothing() -> None:
    """Nobody needs to know."""
