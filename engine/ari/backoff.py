"""Delays between reconnection attempts."""

from collections.abc import Callable


class Backoff:
    """Exponential delays with full jitter; `random` returns a number from 0 up to 1.

    Full jitter spreads the reconnections of engines that lost the same PBX (Amazon Builders'
    Library, "Timeouts, retries, and backoff with jitter").
    """

    def __init__(
        self, random: Callable[[], float], first_s: float = 0.1, limit_s: float = 5.0
    ) -> None:
        self._random = random
        self._first_s = first_s
        self.limit_s = limit_s
        self._ceiling_s = first_s

    def next_s(self) -> float:
        """Return the next delay in seconds, and double the limit of the one after it."""
        delay_s = self._random() * self._ceiling_s
        self._ceiling_s = min(self._ceiling_s * 2, self.limit_s)
        return delay_s

    def reset(self) -> None:
        """Start again with the first delay."""
        self._ceiling_s = self._first_s
