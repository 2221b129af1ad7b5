"""Counts of many worlds: what was run, and what failed."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from tests.sim.engine_log import silenced_log


class Tally(Struct):
    worlds: int = 0
    calls: int = 0
    partial: int = 0  # calls of which the store lost a part
    steps: int = 0
    seconds: float = 0.0  # of all workers
    faults: Counter[str] = field(default_factory=Counter)  # and answers to control requests
    failed: dict[int, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    @property
    def requests(self) -> Counter[str]:
        """How often each control request had each answer."""
        return Counter({kind: count for kind, count in self.faults.items() if ": " in kind})

    @property
    def injected(self) -> Counter[str]:
        """How often each kind of fault happened."""
        return self.faults - self.requests

    def add(self, part: "Tally") -> None:
        self.worlds += part.worlds
        self.calls += part.calls
        self.partial += part.partial
        self.steps += part.steps
        self.seconds += part.seconds
        self.faults += part.faults
        self.failed |= part.failed


def run_tally(
    seeds: Iterable[int],
    run: Callable[[int, list[str]], Tally],
    calls_per_world: int,
    max_calls: int,
) -> Tally:
    """Run seeds until `max_calls` calls are done, or twice the worlds that these should take.

    `run` gets a seed and the list that `silenced_log` yields; a world has about
    `calls_per_world` calls.
    """
    tally = Tally()
    began_s = time.perf_counter()
    with silenced_log() as forbidden:
        for seed in islice(seeds, 2 * max_calls // calls_per_world + 1):
            tally.add(run(seed, forbidden))
            if tally.calls >= max_calls:
                break
    tally.seconds = time.perf_counter() - began_s
    return tally


def read_seeds(kept: Path) -> list[int]:
    """Read a file of seeds: one a line, with a comment."""
    lines = (line.partition("#")[0].strip() for line in kept.read_text().splitlines())
    return [int(line) for line in lines if line]
