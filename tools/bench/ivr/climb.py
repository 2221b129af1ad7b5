"""The search for the highest rate that is carried: long steps up, then halves between two rates."""

from msgspec import Struct

LONG_STEP, SHORTEST_STEP = 40, 5  # calls/s


class Climb(Struct):
    """Raises a rate until it fails; a rate that fails once may have met other load, so it repeats.

    `carried` is the highest rate without a failure so far, 0 if there is none.
    """

    first: int
    last: int
    carried: int = 0
    ceiling: int | None = None  # the lowest rate that has failed
    failures: int = 0  # of the next rate

    @property
    def next_rate(self) -> int | None:
        """The rate to try next; None when the highest is known, or `last` is carried."""
        if self.ceiling is None:
            rate = self.carried + LONG_STEP if self.carried else self.first
            return rate if rate <= self.last else None
        gap = self.ceiling - self.carried
        if not self.carried or gap <= SHORTEST_STEP:
            return None
        return self.carried + max(SHORTEST_STEP, gap // 2 // SHORTEST_STEP * SHORTEST_STEP)

    def record(self, rate: int, failed: int) -> None:
        """Take the number of calls that failed at the rate."""
        if failed == 0:
            self.carried, self.failures = rate, 0
            return
        self.failures += 1
        if self.failures > 1:
            self.ceiling, self.failures = rate, 0
