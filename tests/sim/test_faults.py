"""The intervals that faults disturb, of which the checks excuse what happens in them."""

import random

import pytest

from tests.harness.sim.clock import SimClock
from tests.sim.faults import Faults


@pytest.mark.parametrize(
    ("at_ms", "until_ms"),
    [(500, 500), (950, 3_000), (1_500, 3_000), (2_500, 3_000), (3_000, 3_000), (4_000, 5_000)],
    ids=["before", "just-before", "within", "in-the-second", "after", "in-another"],
)
def test_disturbance_lasts_until_the_end_of_those_that_overlap(at_ms: int, until_ms: int) -> None:
    """An engine that dies again before all effects of its last death are gone is still away."""
    faults = Faults(SimClock(0), random.Random(0), frozenset())
    faults.disturbances = [(1_000, 2_000), (1_900, 3_000), (4_000, 5_000)]

    assert faults.disturbed_until_ms(at_ms, 60) == until_ms
