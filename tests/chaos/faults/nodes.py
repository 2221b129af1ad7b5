"""A PBX node dies with its calls, and comes back."""

from collections.abc import Mapping

from tests.chaos.outcome import Limits
from tests.chaos.run import Fault
from tests.chaos.scenario import Scenario
from tests.harness.until import until

REPORT_TIMEOUT_MS = 5_000  # from its return


async def killed(scene: Scenario) -> None:
    """SIGKILL: its calls end as lost when it is back; new ones go to the other node meanwhile."""
    node = scene.cluster.nodes[0]
    scene.expected_to_end |= {
        call for call, view in scene.views.items() if view["node"] == node.name
    }
    scene.exclude_node(node.name)
    scene.start_measuring()
    await node.kill()
    await scene.wait_for_control()
    await scene.arrivals.run(scene.cluster.nodes[1:])
    await node.start()
    await until(
        lambda: _are_reported(scene), timeout_s=REPORT_TIMEOUT_MS / 1000, what="its calls' ends"
    )


async def _are_reported(scene: Scenario) -> bool:
    await scene.event_log.read_new()
    return {scene.event_log.end_reason(call) for call in scene.expected_to_end} == {"lost"}


FAULTS: Mapping[str, Fault] = {"pbx_killed": Fault(killed, Limits(control_ms=1_000))}
