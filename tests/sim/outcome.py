"""What comes of a seed, with one engine or several; and what tests ask of that."""

from typing import Protocol

from tests.sim.call_histories import CallHistory
from tests.sim.engine_log import silenced_log
from tests.sim.faults import Faults
from tests.sim.world import Trace


class World(Protocol):
    """A world that something struck."""

    @property
    def faults(self) -> Faults:
        """What did."""


class Outcome(Protocol):
    """What came of a seed."""

    @property
    def world(self) -> World:
        """The world."""

    @property
    def histories(self) -> tuple[CallHistory, ...]:
        """Its stories."""

    @property
    def violations(self) -> tuple[tuple[str, str], ...]:
        """What was wrong."""


class Run(Protocol):
    """How a seed is run."""

    def __call__(self, seed: int, forbidden: list[str], *, trace: Trace) -> Outcome:
        """Run it."""


def trace_lines(seed: int, run: Run) -> list[str]:
    """Give all that passed and all that was histories, to the millisecond."""
    lines: list[str] = []
    with silenced_log() as forbidden:
        outcome = run(
            seed, forbidden, trace=lambda at_ms, message: lines.append(f"{at_ms} {message}")
        )
    assert len(lines) > 100
    return [*lines, *(repr(history) for history in outcome.histories)]
