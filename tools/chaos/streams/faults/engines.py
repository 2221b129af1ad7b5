"""Faults of engines: audio does not pass them, so no sound may be lost."""

from collections.abc import Mapping

from tools.chaos.streams.run import StreamFault
from tools.chaos.streams.scenario import Scenario


async def kill(scenario: Scenario) -> None:
    """SIGKILL of an engine; the other one takes its calls over."""
    await scenario.programs.engines[0].kill()
    await scenario.programs.cluster.wait_balanced()


async def deploy(scenario: Scenario) -> None:
    """SIGTERM and a restart of both engines, one after another."""
    for engine in scenario.programs.engines:
        await engine.restart()
        await scenario.programs.cluster.wait_balanced()
        await scenario.programs.wait_gateways_known()


FAULTS: Mapping[str, StreamFault] = {
    "engine_killed": StreamFault(kill),
    "engines_deployed": StreamFault(deploy),
}
