"""Nodes over the RPC: status, drain and undrain, and the number of slots of each."""

import pytest

from engine.runtime.base.node_report import NodeReport
from engine.runtime.policy.capacity_limits import CapacityLimits
from tests.harness.rpc.scene import CALL, SLOTS, RpcScene


async def shown(scene: RpcScene) -> dict[str, object]:
    """Return the view of the scene's node."""
    return dict((await scene.request("GET", "/nodes"))[1]["nodes"][0])


async def test_a_drained_node_gets_no_call(scene: RpcScene) -> None:
    """New calls are rejected with Retry-After; live calls continue."""
    call = await scene.start_call()
    status, view = await scene.request("POST", "/nodes/pbx1/drain")
    assert (status, view["drained"], view["unavailableReason"], view["calls"]) == (
        200,
        True,
        "node_drained",
        1,
    )
    assert await scene.problem("POST", "/calls", CALL) == (503, "node_drained")
    assert (await scene.request("GET", f"/calls/{call}"))[0] == 200
    status, view = await scene.request("POST", "/nodes/pbx1/undrain")
    assert (status, "drained" in view, "unavailableReason" in view) == (200, False, False)
    await scene.start_call()


async def test_a_node_that_is_away_can_be_drained(scene: RpcScene) -> None:
    """A disconnected node is drained before it reconnects."""
    for shard in scene.service.nodes["pbx1"].shards.values():
        shard.pause()
    _, view = await scene.request("POST", "/nodes/pbx1/drain")
    assert (view["drained"], view["connected"], view["unavailableReason"]) == (
        True,
        False,
        "no_node",
    )


async def test_no_such_node(scene: RpcScene) -> None:
    """Unknown nodes get 404, and nothing is stored."""
    assert await scene.problem("POST", "/nodes/pbx9/drain") == (404, "not_found")
    assert await scene.problem("POST", "/nodes/pbx9/undrain") == (404, "not_found")


async def test_a_refusal_names_the_limit(scene: RpcScene) -> None:
    """The code names the reached limit, and the node shows it, too."""
    node_selection = scene.service.node_selection
    node_selection.configure(
        "pbx1", CapacityLimits(2.0, max_calls=1), node_selection.status("pbx1").health
    )
    await scene.start_call()
    assert await scene.problem("POST", "/calls", CALL) == (503, "node_full")
    view = await shown(scene)
    assert (view["weight"], view["maxCalls"], view["unavailableReason"]) == (2.0, 1, "node_full")


async def test_node_health_is_shown(scene: RpcScene) -> None:
    """The view has the health that the manager interface reports."""
    health = scene.service.node_selection.status("pbx1").health
    health.on_booted()
    health.on_call_count(5)
    health.on_contact("trunk", "sip:a", is_reachable=False)
    health.on_registration("sip:me@carrier", is_registered=False)
    for _ in range(100):
        health.on_rtp_report(0.02, 12)
    view = await shown(scene)
    assert (view["amiConnected"], view["coreCalls"], view["trunkReachable"]) == (True, 5, False)
    assert view["unregistered"] == ["sip:me@carrier"]
    assert (view["loss"], view["jitterMs"]) == (0.02, 12.0)
    assert await scene.problem("POST", "/calls", CALL) == (503, "trunk_away")


async def test_the_number_is_changed_while_calls_are_live(scene: RpcScene) -> None:
    """A call starts in a slot that is not retired, and calls of retired ones continue."""
    await scene.store.add_nodes(["pbx1"], SLOTS)
    calls = [await scene.start_call() for _ in range(2)]
    assert {call.partition("-")[0] for call in calls} == {"0", "1"}
    assert await scene.request("PUT", "/slots", {"slots": 1}) == (200, {"slots": 1, "highest": 2})
    after = [await scene.start_call() for _ in range(3)]
    assert {call.partition("-")[0] for call in after} == {"0"}
    for call in calls:
        assert (await scene.request("POST", f"/calls/{call}/hangup", {}))[0] == 200
    assert await scene.request("GET", "/slots") == (200, {"slots": 1, "highest": 2})


async def test_a_request_has_its_call_whatever_the_number_is(scene: RpcScene) -> None:
    """A request that comes again after a change returns the call that it started."""
    await scene.store.add_nodes(["pbx1"], SLOTS)
    body = {"requestId": "order_1234"}
    first = await scene.start_call(**body)
    for slots in (1, 64):
        await scene.request("PUT", "/slots", {"slots": slots})
        assert await scene.start_call(**body) == first


@pytest.mark.parametrize("slots", [0, 65, "x", 1.5, None])
async def test_an_impossible_number(scene: RpcScene, slots: object) -> None:
    """It is refused, and names the field."""
    assert await scene.problem("PUT", "/slots", {"slots": slots}) == (400, "invalid")


async def test_another_engine_watches_a_node(scene: RpcScene) -> None:
    """What the node's supervisor reports is shown, and decides where calls go."""
    scene.cluster.reports["pbx1"] = NodeReport(
        is_watched=True, is_trunk_unreachable=True, unregistered=("carrier",), calls=7, loss=0.02
    )
    view = await shown(scene)
    assert view["amiConnected"] is True
    assert view["trunkReachable"] is False
    assert (view["unregistered"], view["coreCalls"], view["loss"]) == (["carrier"], 7, 0.02)
    assert await scene.problem("POST", "/calls", CALL) == (503, "trunk_away")
    scene.cluster.reports["pbx1"] = NodeReport(is_shutting_down=True)
    assert await scene.problem("POST", "/calls", CALL) == (503, "node_leaving")
    scene.service.node_selection.status("pbx1").health.on_booted()
    await scene.start_call()


async def test_a_shutdown_that_a_new_supervisor_has_seen_end(scene: RpcScene) -> None:
    """What this engine saw when it was the supervisor counts only while no engine knows better."""
    scene.service.node_selection.status("pbx1").health.on_shutdown()
    assert await scene.problem("POST", "/calls", CALL) == (503, "node_leaving")
    scene.cluster.reports["pbx1"] = NodeReport()
    assert await scene.problem("POST", "/calls", CALL) == (503, "node_leaving")
    scene.cluster.reports["pbx1"] = NodeReport(is_watched=True)
    await scene.start_call()
