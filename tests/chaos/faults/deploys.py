"""What operators do at noon: calls come in all the while."""

import asyncio
from collections.abc import Mapping

from tests.chaos.faults.limits import HANDED_OVER
from tests.chaos.run import Fault
from tests.chaos.scenario import Scenario


async def rolling(scene: Scenario) -> None:
    """Restart all engines, one after another."""
    coming = asyncio.create_task(scene.arrivals.run(scene.cluster.nodes))
    scene.start_measuring()
    for lab in scene.cluster.labs:
        await lab.engine.restart()
        await scene.cluster.wait_balanced()
    await scene.wait_for_control()
    await coming


async def joined(scene: Scenario) -> None:
    """Start a third engine."""
    coming = asyncio.create_task(scene.arrivals.run(scene.cluster.nodes))
    scene.start_measuring()
    await scene.cluster.join()
    await scene.cluster.wait_balanced()
    await scene.wait_for_control()
    await coming


FAULTS: Mapping[str, Fault] = {
    "rolling_restart": Fault(rolling, HANDED_OVER),
    "engine_joins": Fault(joined, HANDED_OVER),
}
