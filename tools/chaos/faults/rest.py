"""Faults of the REST layer: engines and their calls do not need it."""

import asyncio
from collections.abc import Mapping

from tests.harness.servers.api import Api
from tools.chaos.documents import ACCOUNT, NUMBER, DocumentWriters
from tools.chaos.faults.limits import HANDED_OVER
from tools.chaos.run import Fault
from tools.chaos.scenario import Scenario

KILLS = 3
CHANGES = 5  # of each document, between two kills


async def kill(scenario: Scenario) -> None:
    """SIGKILL and a restart of the REST layer, three times, while documents change."""
    engines = [lab.engine for lab in scenario.cluster.labs]
    folder = scenario.setting.folder / "api"
    async with Api(folder, engines=engines, account=ACCOUNT, number=NUMBER) as api:
        writers = DocumentWriters(api)
        writing = asyncio.create_task(writers.run())
        arriving = asyncio.create_task(scenario.arrivals.run(scenario.cluster.nodes))
        scenario.start_measuring()
        for _ in range(KILLS):
            await writers.wait_accepted(CHANGES)
            await api.kill()
            await scenario.wait_for_control()
            await api.start()
        await writers.wait_accepted(CHANGES)
        writers.stop()
        await writing
        for engine in engines:
            await writers.wait_complete(engine)
        if not writers.repeated:
            raise TimeoutError("no change was under way when the REST layer was killed")
        await scenario.wait_for_control()
        await arriving


FAULTS: Mapping[str, Fault] = {"rest_killed": Fault(kill, HANDED_OVER)}
