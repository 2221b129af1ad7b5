"""Deployments during new calls."""

import asyncio
from collections.abc import Mapping

from tools.chaos.faults.limits import HANDED_OVER
from tools.chaos.run import Fault
from tools.chaos.scenario import Scenario


async def restart_all(scenario: Scenario) -> None:
    """Restart all engines, one after another."""
    arriving = asyncio.create_task(scenario.arrivals.run(scenario.cluster.nodes))
    scenario.start_measuring()
    for lab in scenario.cluster.labs:
        await lab.engine.restart()
        await scenario.cluster.wait_balanced()
    await scenario.wait_for_control()
    await arriving


async def add_engine(scenario: Scenario) -> None:
    """Start a third engine."""
    arriving = asyncio.create_task(scenario.arrivals.run(scenario.cluster.nodes))
    scenario.start_measuring()
    await scenario.cluster.join()
    await scenario.cluster.wait_balanced()
    await scenario.wait_for_control()
    await arriving


FAULTS: Mapping[str, Fault] = {
    "rolling_restart": Fault(restart_all, HANDED_OVER),
    "engine_joins": Fault(add_engine, HANDED_OVER),
}
