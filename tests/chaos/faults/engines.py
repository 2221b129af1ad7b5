"""An engine goes: killed, stopped, or frozen for longer than its lease."""

from collections.abc import Mapping

from tests.chaos.faults.limits import CRASHED, HANDED_OVER, LEASE_MS
from tests.chaos.run import Fault
from tests.chaos.scenario import Scenario
from tests.harness.monotonic import now_ms
from tests.harness.servers.cluster import freeze, thaw
from tests.harness.until import until


async def killed(scene: Scenario) -> None:
    """SIGKILL."""
    scene.dead_pids.add(scene.faulty.engine.pid)
    scene.start_measuring()
    await scene.faulty.engine.kill()
    await scene.wait_for_control()


async def stopped(scene: Scenario) -> None:
    """SIGTERM."""
    scene.start_measuring()
    await scene.faulty.engine.stop()
    await scene.wait_for_control()


async def frozen(scene: Scenario) -> None:
    """SIGSTOP for twice the lease, then SIGCONT: it must notice, and get its share again."""
    engine = scene.faulty.engine
    scene.dead_pids.add(engine.pid)
    scene.start_measuring()
    freeze(engine)
    await until(lambda: now_ms() > scene.since_ms + 2 * LEASE_MS, what="twice the lease")
    await scene.wait_for_control()
    thaw(engine)
    scene.dead_pids.clear()
    await scene.cluster.wait_balanced()
    await scene.wait_for_control()


FAULTS: Mapping[str, Fault] = {
    "engine_killed": Fault(killed, CRASHED),
    "engine_stopped": Fault(stopped, HANDED_OVER),
    "engine_frozen": Fault(frozen, CRASHED),
}
