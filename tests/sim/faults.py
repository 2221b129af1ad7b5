"""Seeded faults: their kinds, their times, and the intervals that they disturb."""

import random
from collections import Counter
from collections.abc import Callable, Iterator

from tests.harness.sim.clock import SimClock

KINDS = ("crash", "socket", "restart", "lost", "double", "late", "store", "media")
SETTLE_MS = 700  # after a disturbance, until all effects are gone
SLOW_MS = 10_000


class Faults:
    """The faults of one world; implements `SimFaults`."""

    def __init__(self, clock: SimClock, rng: random.Random, kinds: frozenset[str]) -> None:
        self.kinds = kinds
        self.counts: Counter[str] = Counter()
        self.crash: Callable[[str], None] = lambda _boundary: None
        self.is_well: Callable[[], bool] = lambda: True
        self.is_over = False  # no new fault begins
        self.disturbances: list[tuple[float, float]] = []
        self._begins_ms: float | None = None  # begin of the current disturbed interval
        self._least_ms = 0.0  # its earliest end
        self._clock = clock
        self._rng = rng
        self._random = rng.random
        self._until_crash = self._next_crash()

    def passes(self, boundary: str) -> bool:
        """Count a boundary; the engine can die at it."""
        self._until_crash -= 1
        if self._until_crash or self.is_over:
            return True
        self._until_crash = self._next_crash()
        self.counts[f"crash at {boundary}"] += 1
        self.crash(boundary)
        return False

    def loses(self) -> float:
        """Lose some replies; most losses are noticed at once, since the socket broke."""
        if "lost" not in self.kinds or self.is_over or self._random() > 0.02:
            return 0
        self.counts["lost reply"] += 1
        noticed_ms = SLOW_MS if self._random() < 0.1 else 5.0
        self.disturb(noticed_ms)
        return noticed_ms

    def delay_ms(self) -> float:
        """Delay some events."""
        if "late" not in self.kinds or self.is_over or self._random() > 0.02:
            return 0
        self.counts["late event"] += 1
        delay_ms = self._rng.choice((20, 200, 1_500))
        self.disturb(delay_ms)
        return delay_ms

    def doubles(self) -> bool:
        """Duplicate some events."""
        if "double" not in self.kinds or self.is_over or self._random() > 0.05:
            return False
        self.counts["duplicate event"] += 1
        return True

    def disturb(self, at_least_ms: float = 0) -> None:
        """Begin a disturbed interval; it ends when all parts are well again."""
        now = self._clock.at_ms
        self._least_ms = max(self._least_ms, now + at_least_ms)
        if self._begins_ms is None:  # else it extends the current one
            self._begins_ms = now
            self._watch()

    def healthy_ms(self, begin_ms: float, end_ms: float) -> float:
        """Return how much of an interval was undisturbed."""
        if not self.disturbances:
            return end_ms - begin_ms
        return sum(end - begin for begin, end in self._gaps(begin_ms, end_ms))

    def is_disturbed(self, begin_ms: float, end_ms: float) -> bool:
        """Return whether a fault disturbed any part of an interval."""
        return any(begin <= end_ms and end >= begin_ms for begin, end in self.disturbances)

    def disturbed_until_ms(self, at_ms: float, margin_ms: float) -> float:
        """Return the end of the disturbances that follow a time without a gap."""
        until_ms = at_ms
        for begin, end in sorted(self.disturbances):
            if begin <= until_ms + margin_ms and end > until_ms:
                until_ms = end
        return until_ms

    def _watch(self) -> None:
        now = self._clock.at_ms
        if self._begins_ms is not None and now >= self._least_ms and self.is_well():
            self.disturbances.append((self._begins_ms, now + SETTLE_MS))
            self._begins_ms = None
        else:
            self._clock.after(100, self._watch)

    def _gaps(self, begin_ms: float, end_ms: float) -> Iterator[tuple[float, float]]:
        at_ms = begin_ms
        for begin, end in sorted(self.disturbances):
            if begin > at_ms:
                yield at_ms, min(begin, end_ms)
            at_ms = max(at_ms, end)
            if at_ms >= end_ms:
                return
        yield at_ms, end_ms

    def _next_crash(self) -> int:
        if "crash" not in self.kinds:
            return -1
        return self._rng.choice((1, 5, 20, 60, 300)) + self._rng.randrange(30)


def choose(rng: random.Random) -> frozenset[str]:
    """Choose the kinds of faults of a world; a third of the worlds has none."""
    if rng.random() < 0.35:
        return frozenset()
    return frozenset(rng.sample(KINDS, rng.choice((1, 1, 2, 3))))
