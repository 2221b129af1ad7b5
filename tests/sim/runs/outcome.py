"""The outcome of a seed, with one engine or several."""

from typing import Protocol

from tests.sim.call_histories import CallHistory
from tests.sim.engine_log import silenced_log
from tests.sim.faults import Faults
from tests.sim.world import Trace


class World(Protocol):
    """A world with faults."""

    @property
    def faults(self) -> Faults: ...


class Outcome(Protocol):
    @property
    def world(self) -> World: ...

    @property
    def histories(self) -> tuple[CallHistory, ...]: ...

    @property
    def violations(self) -> tuple[tuple[str, str], ...]: ...


class Run(Protocol):
    """Runs a seed."""

    def __call__(self, seed: int, forbidden: list[str], *, trace: Trace) -> Outcome: ...


def trace_lines(seed: int, run: Run) -> list[str]:
    """Return everything that happens in a seed, to the millisecond."""
    lines: list[str] = []
    with silenced_log() as forbidden:
        outcome = run(
            seed, forbidden, trace=lambda at_ms, message: lines.append(f"{at_ms} {message}")
        )
    assert len(lines) > 100
    return [*lines, *(repr(history) for history in outcome.histories)]
