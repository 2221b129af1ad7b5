"""The search for the highest rate without a failure."""

import pytest

from tests.bench.ivr.climb import Climb


def _rates(capacity: int, last: int = 300) -> tuple[list[int], int]:
    """Climb where every rate above `capacity` fails; returns the rates tried and the result."""
    climb, tried = Climb(40, last), []
    while (rate := climb.next_rate) is not None:
        tried.append(rate)
        climb.record(rate, failed=0 if rate <= capacity else 1)
    return tried, climb.carried


def test_long_steps_first_then_short_ones() -> None:
    """A rate that fails is tried again; between the last two rates the steps are short."""
    assert _rates(72) == ([40, 60, 80, 80, 65, 70, 75, 75], 70)


def test_the_rate_below_a_long_step() -> None:
    """The short steps end before the rate that has failed."""
    assert _rates(79) == ([40, 60, 80, 80, 65, 70, 75], 75)


@pytest.mark.parametrize(("capacity", "carried"), [(39, 0), (1_000, 100)])
def test_limits_of_the_search(capacity: int, carried: int) -> None:
    """The result is 0 if the first rate fails, and the last rate if none fails."""
    assert _rates(capacity, last=100)[1] == carried


def test_one_failure_may_be_chance() -> None:
    """A rate that fails once and then does not is carried."""
    climb = Climb(40, 300)
    climb.record(40, failed=2)
    assert climb.next_rate == 40
    climb.record(40, failed=0)
    assert (climb.carried, climb.next_rate) == (40, 60)
