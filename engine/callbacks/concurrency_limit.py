"""How many deliveries an engine makes at once, over all targets, and which target is next."""

from collections import OrderedDict

from engine.callbacks.target_queue import TargetQueue

MAX_IN_FLIGHT = 1_000
UNPROVEN_SHARE = 0.5  # of the limit, for targets whose last attempt did not succeed
Line = OrderedDict[TargetQueue, None]  # first come, first served; each target is in it once


class ConcurrencyLimit:
    """Lets targets start deliveries in turn, while the limit allows one.

    Unproven targets, which have not answered yet or failed last, have half of the limit at most:
    thousands of targets that are down leave the other half to those that answer.
    """

    def __init__(self, max_in_flight: int = MAX_IN_FLIGHT) -> None:
        self._max_in_flight = max_in_flight
        self._max_unproven = max(1, int(max_in_flight * UNPROVEN_SHARE))
        self._in_flight = 0
        self._unproven_in_flight = 0
        self._proven = Line()
        self._unproven = Line()
        self._was_proven = False  # the target that was next last time

    def add(self, target: TargetQueue) -> None:
        """Put a target in line; if its last attempt changed its kind, in the other line."""
        line, other = self._proven, self._unproven
        if not target.is_proven:
            line, other = other, line
        other.pop(target, None)
        line[target] = None

    def next_target(self) -> TargetQueue | None:
        """Remove and return the next target that may start a delivery, if any; kinds alternate."""
        if self._in_flight >= self._max_in_flight:
            return None
        has_unproven = self._unproven and self._unproven_in_flight < self._max_unproven
        if self._proven and not (has_unproven and self._was_proven):
            line = self._proven
        elif has_unproven:
            line = self._unproven
        else:
            return None
        self._was_proven = line is self._proven
        return line.popitem(last=False)[0]

    def record_start(self, *, is_proven: bool) -> None:
        """Count a delivery that starts."""
        self._in_flight += 1
        self._unproven_in_flight += not is_proven

    def record_end(self, *, was_proven: bool) -> None:
        """Count a delivery that has ended, as it was counted at its start."""
        self._in_flight -= 1
        self._unproven_in_flight -= not was_proven
