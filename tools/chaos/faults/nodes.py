"""A PBX node is killed and restarted."""

from collections.abc import Mapping

from tests.harness.until import until
from tools.chaos.outcome import Limits
from tools.chaos.run import Fault
from tools.chaos.scenario import Scenario

REPORT_TIMEOUT_MS = 5_000  # from its restart


async def kill(scenario: Scenario) -> None:
    """SIGKILL and restart: its calls end as lost; new calls go to the other node."""
    node = scenario.cluster.nodes[0]
    scenario.expected_to_end |= {
        call for call, view in scenario.views.items() if view["node"] == node.name
    }
    scenario.exclude_node(node.name)
    scenario.start_measuring()
    await node.kill()
    await scenario.wait_for_control()
    await scenario.arrivals.run(scenario.cluster.nodes[1:])
    await node.start()
    await until(
        lambda: _are_reported(scenario), timeout_s=REPORT_TIMEOUT_MS / 1000, what="its calls' ends"
    )


async def _are_reported(scenario: Scenario) -> bool:
    await scenario.event_log.read_new()
    return {scenario.event_log.end_reason(call) for call in scenario.expected_to_end} == {"lost"}


FAULTS: Mapping[str, Fault] = {"pbx_killed": Fault(kill, Limits(control_ms=1_000))}
