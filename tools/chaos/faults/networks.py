"""A dead network of one engine: connections stay open, and data arrives late."""

import asyncio
from collections.abc import Mapping

from engine.runtime.cluster.pbx_reachability import PROVEN_AFTER_S
from tests.harness.monotonic import now_ms
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until
from tools.chaos.faults.limits import CRASHED, LEASE_MS
from tools.chaos.run import Fault
from tools.chaos.scenario import Scenario


async def cut_store(scenario: Scenario) -> None:
    """Dead network between one engine and Redis."""
    scenario.dead_pids.add(scenario.faulty.engine.pid)
    await _cut(scenario, scenario.proxies.store)
    scenario.dead_pids.clear()
    await scenario.cluster.wait_balanced()
    await scenario.wait_for_control()


async def cut_pbx(scenario: Scenario) -> None:
    """Dead network between one engine and one PBX, which the other engine still reaches."""
    await _wait_ms(PROVEN_AFTER_S * 1000)  # a new engine does not report reachability yet
    await asyncio.gather(_cut(scenario, scenario.proxies.pbx), _wait_for_handover(scenario))
    await scenario.cluster.wait_balanced()
    await scenario.wait_for_control()


async def _wait_for_handover(scenario: Scenario) -> None:
    cluster = scenario.cluster
    node, before = cluster.nodes[0].name, await cluster.owners()

    async def is_handed_over() -> bool:
        return all(s.node != node for s in await cluster.shards_of(scenario.faulty.engine))

    within_s = CRASHED.control_ms / 1000
    await until(is_handed_over, timeout_s=within_s, what="others to own the shards of the path")
    after = await cluster.owners()
    moved = {shard.node for shard in after if after[shard] != before.get(shard)}
    if moved - {node}:
        raise AssertionError(f"shards of {sorted(moved)} moved, not only those of {node}")
    await scenario.wait_for_control()


async def _cut(scenario: Scenario, proxy: TcpProxy) -> None:
    scenario.start_measuring()
    proxy.cut()
    try:
        await _wait_ms(3 * LEASE_MS)
    finally:
        proxy.restore()


async def _wait_ms(ms: float) -> None:
    until_ms = now_ms() + ms
    await until(lambda: now_ms() > until_ms, what=f"{ms:.0f} ms to pass")


FAULTS: Mapping[str, Fault] = {
    "store_unreachable": Fault(cut_store, CRASHED, uses_proxies=True),
    "pbx_unreachable": Fault(cut_pbx, CRASHED, uses_proxies=True),
}
