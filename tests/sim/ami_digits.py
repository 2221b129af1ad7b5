"""Whether a world has other engines, which hear over AMI what nobody hears over ARI."""

from random import Random

from engine.runtime.nodes.dtmf_log import DtmfLog
from tests.harness.sim.clock import LifeClock, SimClock
from tests.harness.sim.manager import SimManager
from tests.sim.engine_run import Broken

OFTEN = 0.67


def overhearing(seed: int, manager: SimManager, broken: Broken, clock: SimClock) -> DtmfLog | None:
    """Let most worlds have what the next engine hears; in the others each hears for itself."""
    if Random(f"ears {seed}").random() > OFTEN:
        return None
    overheard = DtmfLog(LifeClock(clock, None))
    manager.log_in(broken.keys(overheard))
    return overheard
