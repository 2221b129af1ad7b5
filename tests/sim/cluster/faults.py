"""Seeded faults of a cluster: their kinds, and the time of the last one."""

import random
from collections.abc import Callable

from tests.harness.sim.clock import SimClock
from tests.sim.faults import Faults

ENGINES = ("crash", "kill", "freeze", "leave", "join")
WAYS = ("socket", "replaced", "cut store", "cut pbx")
STORE = ("silent", "restart", "full", "failover", "emptied", "clock")
NODES = ("pbx",)
SMALL = ("lost", "double", "late", "media")
KINDS = (*ENGINES, *WAYS, *STORE, *NODES, *SMALL)
FORGETS = {"failover", "emptied"}
CRASHES = (50, 300, 1_000, 3_000)  # approximate number of boundaries between two crashes


class ClusterFaults(Faults):
    """The faults of one world, and the time of the last one."""

    def __init__(self, clock: SimClock, rng: random.Random, kinds: frozenset[str]) -> None:
        super().__init__(clock, rng, kinds)
        self.last_ms = clock.at_ms  # when the last fault happened, or will end

    def disturb(self, at_least_ms: float = 0) -> None:
        """Begin a disturbed interval."""
        self.last_ms = max(self.last_ms, self._clock.at_ms + at_least_ms)
        super().disturb(at_least_ms)

    def _next_crash(self) -> int:
        if "crash" not in self.kinds:
            return -1
        return self._rng.choice(CRASHES) + self._rng.randrange(50)


class EngineFaults:
    """The faults of one engine; implements `SimFaults`."""

    def __init__(self, faults: ClusterFaults, dies: Callable[[str], None]) -> None:
        self._faults = faults
        self._dies = dies
        self.loses = faults.loses
        self.delay_ms = faults.delay_ms
        self.doubles = faults.doubles

    def passes(self, boundary: str) -> bool:
        """Pass a boundary; return False when this engine dies there."""
        self._faults.crash = self._dies
        return self._faults.passes(boundary)


def choose(rng: random.Random) -> frozenset[str]:
    """Choose the kinds of faults of a world; a tenth of the worlds has none."""
    if rng.random() < 0.1:
        return frozenset()
    return frozenset(rng.sample(KINDS, rng.choice((1, 1, 2, 2, 3, 4))))
