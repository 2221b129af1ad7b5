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
    scene.gone.add(scene.hurt.engine.pid)
    scene.count_from_here()
    await scene.hurt.engine.kill()
    await scene.controlled()


async def stopped(scene: Scenario) -> None:
    """SIGTERM."""
    scene.count_from_here()
    await scene.hurt.engine.stop()
    await scene.controlled()


async def frozen(scene: Scenario) -> None:
    """SIGSTOP for twice the lease, then SIGCONT: it must notice, and get its share again."""
    engine = scene.hurt.engine
    scene.gone.add(engine.pid)
    scene.count_from_here()
    freeze(engine)
    await until(lambda: now_ms() > scene.since_ms + 2 * LEASE_MS, what="twice the lease")
    await scene.controlled()
    thaw(engine)
    scene.gone.clear()
    await scene.cluster.shared()
    await scene.controlled()


FAULTS: Mapping[str, Fault] = {
    "engine_killed": Fault(killed, CRASHED),
    "engine_stopped": Fault(stopped, HANDED_OVER),
    "engine_frozen": Fault(frozen, CRASHED),
}
