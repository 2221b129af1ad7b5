"""Decides whether a world's DTMF log survives its engine, as those of other engines do."""

from random import Random

from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from tests.harness.sim.clock import EngineClock, SimClock
from tests.harness.sim.manager import SimManager
from tests.sim.engine_run import PartOverrides

PROBABILITY = 0.67


def shared_recent_digits(
    seed: int, manager: SimManager, overrides: PartOverrides, clock: SimClock
) -> RecentDigits | None:
    """Open a shared DTMF log in two thirds of the worlds; else each engine has its own."""
    if Random(f"ears {seed}").random() > PROBABILITY:
        return None
    recent_digits = RecentDigits(EngineClock(clock, None))
    manager.log_in(overrides.dtmf(recent_digits))
    return recent_digits
