"""Faults of an engine: killed, stopped, or suspended for longer than its lease."""

from collections.abc import Mapping

from tests.harness.monotonic import now_ms
from tests.harness.servers.cluster import freeze, thaw
from tests.harness.until import until
from tools.chaos.faults.limits import CRASHED, HANDED_OVER, LEASE_MS
from tools.chaos.run import Fault
from tools.chaos.scenario import Scenario


async def kill(scenario: Scenario) -> None:
    """SIGKILL."""
    scenario.dead_pids.add(scenario.faulty.engine.pid)
    scenario.start_measuring()
    await scenario.faulty.engine.kill()
    await scenario.wait_for_control()


async def stop(scenario: Scenario) -> None:
    """SIGTERM."""
    scenario.start_measuring()
    await scenario.faulty.engine.stop()
    await scenario.wait_for_control()


async def freeze_past_lease(scenario: Scenario) -> None:
    """SIGSTOP for twice the lease, then SIGCONT: it must notice, and regain its share."""
    engine = scenario.faulty.engine
    scenario.dead_pids.add(engine.pid)
    scenario.start_measuring()
    freeze(engine)
    await until(lambda: now_ms() > scenario.since_ms + 2 * LEASE_MS, what="twice the lease")
    await scenario.wait_for_control()
    thaw(engine)
    scenario.dead_pids.clear()
    await scenario.cluster.wait_balanced()
    await scenario.wait_for_control()


FAULTS: Mapping[str, Fault] = {
    "engine_killed": Fault(kill, CRASHED),
    "engine_stopped": Fault(stop, HANDED_OVER),
    "engine_frozen": Fault(freeze_past_lease, CRASHED),
}
