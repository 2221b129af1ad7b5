"""Rates of one process, by account: a burst, and an even rate after it."""

from math import ceil

from msgspec import Struct

from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock

Headers = tuple[tuple[bytes, bytes], ...]


class Rate(Struct, frozen=True):
    """So many at once, and so many a second after that."""

    per_s: float
    burst: float


class TokenBuckets:
    """A bucket for each key, full at first."""

    def __init__(self, rate: Rate, now_ms: Clock) -> None:
        self.rate = rate
        self._now_ms = now_ms
        self._buckets: BoundedDict[str, tuple[int, float]] = BoundedDict()  # at what time, how full

    def take(self, key: str, amount: float = 1) -> bool:
        """Take one, or so many; False if the bucket has less."""
        now_ms = self._now_ms()
        at_ms, left = self._buckets.get(key) or (now_ms, self.rate.burst)
        passed_ms = max(0, now_ms - at_ms)  # the clock may have been set back
        left = min(self.rate.burst, left + passed_ms * self.rate.per_s / 1_000)
        is_taken = left >= amount
        self._buckets.put(key, (now_ms, left - amount * is_taken))
        return is_taken

    def left(self, key: str) -> float:
        """Return how full the bucket was when one was last taken."""
        _, left = self._buckets.get(key) or (0, self.rate.burst)
        return left


def rate_limit_headers(rate: Rate, left: float) -> Headers:
    """Return the limit, and what is left of it."""
    refill_s = ceil(rate.burst / rate.per_s)
    full_s = ceil((rate.burst - left) / rate.per_s)
    return (
        (b"ratelimit-policy", f'"requests";q={int(rate.burst)};w={refill_s}'.encode()),
        (b"ratelimit", f'"requests";r={int(left)};t={full_s}'.encode()),
    )
