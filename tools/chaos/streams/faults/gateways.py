"""Faults of gateways: their streams end, and continue at another one."""

import asyncio
from collections.abc import Mapping

from tests.harness.servers.cluster import freeze as freeze_process
from tests.harness.servers.cluster import thaw as thaw_process
from tools.chaos.streams.outcome import lossy
from tools.chaos.streams.run import StreamFault
from tools.chaos.streams.scenario import Scenario

FROZEN_MS = 10_000


async def kill(scenario: Scenario) -> None:
    """SIGKILL of a gateway; the other one takes its streams."""
    await scenario.programs.gateways[0].kill()
    await scenario.wait_restored()
    await scenario.programs.gateways[0].start()


async def deploy(scenario: Scenario) -> None:
    """SIGTERM and a restart of both gateways, one after another; each drains for two seconds."""
    for gateway in scenario.programs.gateways:
        await gateway.restart()
        await scenario.programs.wait_gateways_known()
        await scenario.wait_restored()


async def kill_both(scenario: Scenario) -> None:
    """SIGKILL of both gateways, and a restart; callers hear music meanwhile."""
    gateways = scenario.programs.gateways
    await asyncio.gather(*(each.kill() for each in gateways))
    await asyncio.gather(*(each.start() for each in gateways))


async def freeze(scenario: Scenario) -> None:
    """SIGSTOP of a gateway for ten seconds: the other one takes its streams meanwhile."""
    gateway = scenario.programs.gateways[0]
    freeze_process(gateway)
    try:
        await scenario.wait_ms(FROZEN_MS)
    finally:
        thaw_process(gateway)


FAULTS: Mapping[str, StreamFault] = {
    "gateway_killed": StreamFault(kill, lossy(1_000)),
    "gateways_deployed": StreamFault(deploy, lossy(1_000)),
    "gateway_frozen": StreamFault(freeze, lossy(9_000, 9_000)),
    "both_gateways_killed": StreamFault(kill_both, lossy(8_000)),
}
