"""Whether a world has other engines, which hear over AMI what nobody hears over ARI."""

import random

from engine.runtime.overheard import Overheard
from tests.harness.sim_clock import SimClock
from tests.harness.sim_manager import SimManager
from tests.sim.life import Broken


def overhearing(
    clock: SimClock, manager: SimManager, broken: Broken, chance: random.Random
) -> Overheard | None:
    """Let two worlds in three have what the next engine hears; else each hears by itself only."""
    if chance.random() > 0.67:
        return None
    overheard = Overheard(clock)  # type: ignore[arg-type]  # as much of a Clock as it needs
    manager.log_in(broken.keys(overheard))
    return overheard
