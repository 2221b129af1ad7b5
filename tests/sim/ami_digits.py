"""Whether a world has other engines, which hear over AMI what nobody hears over ARI."""

from random import Random

from engine.runtime.nodes.dtmf_log import DtmfLog
from tests.harness.sim.clock import EngineClock, SimClock
from tests.harness.sim.manager import SimManager
from tests.sim.engine_run import PartOverrides

PROBABILITY = 0.67


def shared_dtmf_log(
    seed: int, manager: SimManager, overrides: PartOverrides, clock: SimClock
) -> DtmfLog | None:
    """Let most worlds have what the next engine hears; in the others each hears for itself."""
    if Random(f"ears {seed}").random() > PROBABILITY:
        return None
    dtmf_log = DtmfLog(EngineClock(clock, None))
    manager.log_in(overrides.dtmf(dtmf_log))
    return dtmf_log
