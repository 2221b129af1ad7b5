"""A target's lane: how much goes at once, how much a second, and what waits."""

import pytest

from engine.callbacks.call_queue import Line
from engine.callbacks.circuit_breaker import OPEN_S, Circuit
from engine.callbacks.target_queue import MOST_READY, Lane, Pace


class Clock:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def monotonic(self) -> float:
        """Give the time."""
        return self.now_s


def filled(clock: Clock, lines: int, pace: Pace) -> Lane:
    """Make a lane with lines that wait."""
    lane = Lane("acme auto-set", Circuit(), clock.monotonic)
    lane.pace = pace
    lane.ready.extend(Line(3, f"c{number}", lane.way) for number in range(lines))
    return lane


def test_so_many_at_once() -> None:
    """The next goes when one is done."""
    lane = filled(Clock(), 5, Pace(concurrency=2))
    assert [lane.next() is not None for _ in range(3)] == [True, True, False]
    lane.busy -= 1
    assert lane.next() is not None


def test_so_many_a_second() -> None:
    """Evenly, and what was not used in a quiet time is not made up for."""
    clock = Clock()
    lane = filled(clock, 50, Pace(per_s=10))
    clock.now_s += 60
    gone = 0
    for _ in range(100):
        gone += lane.next() is not None
        clock.now_s += 0.01
    assert 10 <= gone <= 12
    lane.next()
    assert lane.paced_s() == pytest.approx(0.1, abs=0.02)


def test_the_first_in_is_the_first_out() -> None:
    """Lines go in turn."""
    lane = filled(Clock(), 3, Pace())
    found = [line.call_id for _ in range(3) if (line := lane.next())]
    assert found == ["c0", "c1", "c2"]


def test_open_it_keeps_nothing() -> None:
    """Lines that wait are given up to the store, and there is no room for others."""
    clock = Clock()
    lane = filled(clock, 8, Pace())
    for _ in range(5):
        lane.next()
    opened = [lane.tell(is_answered=False) for _ in range(5)]
    assert opened[-1]
    assert len(lane.left()) == 3
    assert not lane.has_room()
    assert lane.back_in_s() == OPEN_S
    clock.now_s += OPEN_S
    assert lane.has_room()


def test_only_so_many_wait() -> None:
    """The rest stays in the store."""
    lane = filled(Clock(), MOST_READY, Pace())
    assert not lane.has_room()
    assert lane.back_in_s() > 0


def test_idle() -> None:
    """A lane that nothing has gone through for long may be forgotten."""
    clock = Clock()
    lane = filled(clock, 1, Pace())
    clock.now_s += 200
    assert not lane.is_idle(120)
    lane.next()
    lane.busy -= 1
    clock.now_s += 121
    assert lane.is_idle(120)
