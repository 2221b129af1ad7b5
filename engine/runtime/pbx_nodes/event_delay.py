"""How late the events of a PBX are read: they wait in the sockets while the engine is frozen.

The PBX's clock may differ from the engine's, so the age of an event by its timestamp is compared
with the lowest age in the last 30 to 60 s.
"""

from math import inf

PERIOD_MS = 30_000  # the lowest age is that of one period, or two
MIN_DELAY_MS = 100  # less is normal
MAX_DELAY_MS = 10_000  # more means that the PBX's clock was set


class EventDelay:
    """The delay of the events of one source."""

    def __init__(self) -> None:
        self._lowest_ms: float = inf
        self._previous_lowest_ms: float = inf
        self._since_ms: float = -inf

    def measure(self, pbx_ms: int, now: int) -> int:
        """Return how late an event is read, 0 if it is about as quick as others."""
        age_ms = now - pbx_ms
        if now - self._since_ms > PERIOD_MS:
            self._previous_lowest_ms, self._lowest_ms = self._lowest_ms, inf
            self._since_ms = now
        self._lowest_ms = min(self._lowest_ms, age_ms)
        delay_ms = age_ms - int(min(self._lowest_ms, self._previous_lowest_ms))
        if delay_ms > MAX_DELAY_MS:
            self._lowest_ms = self._previous_lowest_ms = age_ms
            return 0
        return delay_ms if delay_ms >= MIN_DELAY_MS else 0

    def change_clock(self, by_ms: int) -> None:
        """Move the ages after the engine's clock was corrected."""
        self._lowest_ms += by_ms
        self._previous_lowest_ms += by_ms
        self._since_ms += by_ms
