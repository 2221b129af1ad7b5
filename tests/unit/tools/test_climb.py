"""The search for the highest rate without a failure."""

import pytest

from tools.bench.ivr.climb import Climb


def _rates(capacity: int, last: int = 300) -> tuple[list[int], int]:
    """Climb where every rate above `capacity` fails; returns the rates tried and the result."""
    climb, tried = Climb(40, last), []
    while (rate := climb.next_rate) is not None:
        tried.append(rate)
        climb.record(rate, failed=0 if rate <= capacity else 1)
    return tried, climb.carried


def test_long_steps_then_halves() -> None:
    """A rate that fails is tried again; then the gap to the last rate is halved."""
    assert _rates(100) == ([40, 80, 120, 120, 100, 110, 110, 105, 105], 100)


def test_the_result_is_exact_to_the_shortest_step() -> None:
    """The highest multiple of the shortest step that does not fail is found."""
    assert [_rates(capacity)[1] for capacity in (79, 80, 84, 119, 121)] == [75, 80, 80, 115, 120]


@pytest.mark.parametrize(("capacity", "carried"), [(39, 0), (1_000, 120)])
def test_limits_of_the_search(capacity: int, carried: int) -> None:
    """The result is 0 if the first rate fails, and the last rate if none fails."""
    assert _rates(capacity, last=120)[1] == carried


def test_one_failure_may_be_chance() -> None:
    """A rate that fails once and then does not is carried."""
    climb = Climb(40, 300)
    climb.record(40, failed=2)
    assert climb.next_rate == 40
    climb.record(40, failed=0)
    assert (climb.carried, climb.next_rate) == (40, 80)
