"""The rate limiter: a burst, then a rate."""

from engine.runtime.policy.capacity_limits import RateLimiter
from tests.harness.runtime.shard_scene import ManualClock


def try_take(limiter: RateLimiter) -> bool:
    """Take one call if it is available, as placement does."""
    if limiter.available < 1:
        return False
    limiter.take()
    return True


def test_a_burst_then_a_rate() -> None:
    """One second's worth at once, then as many as time allows."""
    clock = ManualClock()
    limiter = RateLimiter(clock, 10, 1_000)
    assert [try_take(limiter) for _ in range(12)] == [True] * 10 + [False] * 2
    clock.pass_ms(250)
    assert [try_take(limiter) for _ in range(3)] == [True, True, False]
    clock.pass_ms(60_000)
    assert sum(try_take(limiter) for _ in range(50)) == 10
