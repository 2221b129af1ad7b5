"""The PBX is killed: its calls end, and with them all streams."""

from collections.abc import Mapping

from tests.harness.until import until
from tools.chaos.streams.run import StreamFault
from tools.chaos.streams.scenario import Scenario

REPORT_TIMEOUT_S = 5.0  # from its restart


async def kill(scenario: Scenario) -> None:
    """SIGKILL of the PBX, and a restart: its calls end as lost, and bots are closed."""
    programs = scenario.programs
    await programs.pbx.kill()
    await until(lambda: not programs.bots.connected, what="the bots to be closed")
    await programs.pbx.start()

    async def are_reported() -> bool:
        ends = [each for each in await programs.cluster.events() if each["event"] == "completed"]
        return [each["reason"] for each in ends] == ["lost"] * len(scenario.callers.all)

    await until(are_reported, timeout_s=REPORT_TIMEOUT_S, what="all calls to end as lost")


FAULTS: Mapping[str, StreamFault] = {
    "pbx_killed": StreamFault(kill, errors=("node lost",), ends_calls=True),
}
