"""A target's lane: how much goes at once, how much a second, and what waits."""

import pytest

from engine.callbacks.call_queue import CallQueue
from engine.callbacks.circuit_breaker import OPEN_S, CircuitBreaker
from engine.callbacks.target_queue import MAX_READY_CALLS, RateLimit, TargetQueue


class Clock:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def monotonic(self) -> float:
        """Give the time."""
        return self.now_s


def filled(clock: Clock, lines: int, pace: RateLimit) -> TargetQueue:
    """Make a lane with lines that wait."""
    lane = TargetQueue("acme auto-set", CircuitBreaker(), clock.monotonic)
    lane.rate_limit = pace
    lane.ready.extend(CallQueue(3, f"c{number}", lane.delivery_key) for number in range(lines))
    return lane


def test_so_many_at_once() -> None:
    """The next goes when one is done."""
    lane = filled(Clock(), 5, RateLimit(concurrency=2))
    assert [lane.start_next() is not None for _ in range(3)] == [True, True, False]
    lane.in_flight -= 1
    assert lane.start_next() is not None


def test_so_many_a_second() -> None:
    """Evenly, and what was not used in a quiet time is not made up for."""
    clock = Clock()
    lane = filled(clock, 50, RateLimit(per_s=10))
    clock.now_s += 60
    gone = 0
    for _ in range(100):
        gone += lane.start_next() is not None
        clock.now_s += 0.01
    assert 10 <= gone <= 12
    lane.start_next()
    assert lane.rate_limit_wait_s() == pytest.approx(0.1, abs=0.02)


def test_the_first_in_is_the_first_out() -> None:
    """Lines go in turn."""
    lane = filled(Clock(), 3, RateLimit())
    found = [line.call_id for _ in range(3) if (line := lane.start_next())]
    assert found == ["c0", "c1", "c2"]


def test_open_it_keeps_nothing() -> None:
    """Lines that wait are given up to the store, and there is no room for others."""
    clock = Clock()
    lane = filled(clock, 8, RateLimit())
    for _ in range(5):
        lane.start_next()
    opened = [lane.record_result(is_answered=False) for _ in range(5)]
    assert opened[-1]
    assert len(lane.take_blocked()) == 3
    assert not lane.has_room()
    assert lane.retry_delay_s() == OPEN_S
    clock.now_s += OPEN_S
    assert lane.has_room()


def test_only_so_many_wait() -> None:
    """The rest stays in the store."""
    lane = filled(Clock(), MAX_READY_CALLS, RateLimit())
    assert not lane.has_room()
    assert lane.retry_delay_s() > 0


def test_idle() -> None:
    """A lane that nothing has gone through for long may be forgotten."""
    clock = Clock()
    lane = filled(clock, 1, RateLimit())
    clock.now_s += 200
    assert not lane.is_unused(120)
    lane.start_next()
    lane.in_flight -= 1
    clock.now_s += 121
    assert lane.is_unused(120)
