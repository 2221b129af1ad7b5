"""One engine's network goes dead: nothing is refused, nothing arrives, and later it all does."""

import asyncio
from collections.abc import Mapping

from engine.runtime.cluster.reachability import PROVEN_AFTER_S
from tests.chaos.faults.limits import CRASHED, LEASE_MS
from tests.chaos.run import Fault
from tests.chaos.scenario import Scenario
from tests.harness.monotonic import now_ms
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until


async def without_store(scene: Scenario) -> None:
    """Between one engine and Redis."""
    scene.dead_pids.add(scene.faulty.engine.pid)
    await _cut(scene, scene.proxies.store)
    scene.dead_pids.clear()
    await scene.cluster.wait_balanced()
    await scene.wait_for_control()


async def without_pbx(scene: Scenario) -> None:
    """Between one engine and one PBX, which the other engine can reach and gets the calls of."""
    await _wait_ms(PROVEN_AFTER_S * 1000)  # an engine that has just begun is not believed yet
    await asyncio.gather(_cut(scene, scene.proxies.pbx), _wait_for_handover(scene))
    await scene.cluster.wait_balanced()
    await scene.wait_for_control()


async def _wait_for_handover(scene: Scenario) -> None:
    async def is_so() -> bool:
        return not await scene.cluster.slots_of(scene.faulty.engine)

    within_s = CRASHED.control_ms / 1000
    await until(is_so, timeout_s=within_s, what="the slots to be the other engine's")
    await scene.wait_for_control()


async def _cut(scene: Scenario, way: TcpProxy) -> None:
    scene.start_measuring()
    way.cut()
    try:
        await _wait_ms(3 * LEASE_MS)
    finally:
        way.restore()


async def _wait_ms(ms: float) -> None:
    until_ms = now_ms() + ms
    await until(lambda: now_ms() > until_ms, what="a while")


FAULTS: Mapping[str, Fault] = {
    "store_unreachable": Fault(without_store, CRASHED, uses_proxies=True),
    "pbx_unreachable": Fault(without_pbx, CRASHED, uses_proxies=True),
}
