"""Nodes over the RPC: status, drain and undrain, and the number of slots of each."""

from pathlib import Path

import pytest

from engine.runtime.base.node_report import NodeReport
from engine.runtime.policy.capacity_limits import CapacityLimits
from tests.contract.cli.command import switchroom
from tests.contract.rpc.harness.bench import CALL, SLOTS, TOKEN, Bench


async def shown(bench: Bench) -> dict[str, object]:
    """Return the view of the bench's node."""
    return dict((await bench.request("GET", "/nodes"))[1]["nodes"][0])


async def test_a_drained_node_gets_no_call(bench: Bench) -> None:
    """New calls are rejected with Retry-After; live calls continue."""
    call = await bench.start_call()
    status, view = await bench.request("POST", "/nodes/pbx1/drain")
    assert (status, view["drained"], view["unavailableReason"], view["calls"]) == (
        200,
        True,
        "node_drained",
        1,
    )
    assert await bench.problem("POST", "/calls", CALL) == (503, "node_drained")
    assert (await bench.request("GET", f"/calls/{call}"))[0] == 200
    status, view = await bench.request("POST", "/nodes/pbx1/undrain")
    assert (status, "drained" in view, "unavailableReason" in view) == (200, False, False)
    await bench.start_call()


async def test_a_node_that_is_away_can_be_drained(bench: Bench) -> None:
    """A disconnected node is drained before it reconnects."""
    for shard in bench.service.nodes["pbx1"].shards.values():
        shard.pause()
    _, view = await bench.request("POST", "/nodes/pbx1/drain")
    assert (view["drained"], view["connected"], view["unavailableReason"]) == (
        True,
        False,
        "no_node",
    )


async def test_no_such_node(bench: Bench) -> None:
    """Unknown nodes get 404, and nothing is stored."""
    assert await bench.problem("POST", "/nodes/pbx9/drain") == (404, "not_found")
    assert await bench.problem("POST", "/nodes/pbx9/undrain") == (404, "not_found")


async def test_a_refusal_names_the_limit(bench: Bench) -> None:
    """The code names the reached limit, and the node shows it, too."""
    node_selection = bench.service.node_selection
    node_selection.configure(
        "pbx1", CapacityLimits(2.0, max_calls=1), node_selection.status("pbx1").health
    )
    await bench.start_call()
    assert await bench.problem("POST", "/calls", CALL) == (503, "node_full")
    view = await shown(bench)
    assert (view["weight"], view["maxCalls"], view["unavailableReason"]) == (2.0, 1, "node_full")


async def test_node_health_is_shown(bench: Bench) -> None:
    """The view has the health that the manager interface reports."""
    health = bench.service.node_selection.status("pbx1").health
    health.on_booted()
    health.on_call_count(5)
    health.on_contact("trunk", "sip:a", is_reachable=False)
    health.on_registration("sip:me@carrier", is_registered=False)
    for _ in range(100):
        health.on_rtp_report(0.02, 12)
    view = await shown(bench)
    assert (view["amiConnected"], view["coreCalls"], view["trunkReachable"]) == (True, 5, False)
    assert view["unregistered"] == ["sip:me@carrier"]
    assert (view["loss"], view["jitterMs"]) == (0.02, 12.0)
    assert await bench.problem("POST", "/calls", CALL) == (503, "trunk_away")


async def test_the_number_is_changed_while_calls_are_live(bench: Bench) -> None:
    """A call starts in a slot that is not retired, and calls of retired ones continue."""
    await bench.store.add_nodes(["pbx1"], SLOTS)
    calls = [await bench.start_call() for _ in range(2)]
    assert {call.partition("-")[0] for call in calls} == {"0", "1"}
    assert await bench.request("PUT", "/slots", {"slots": 1}) == (200, {"slots": 1, "highest": 2})
    after = [await bench.start_call() for _ in range(3)]
    assert {call.partition("-")[0] for call in after} == {"0"}
    for call in calls:
        assert (await bench.request("POST", f"/calls/{call}/hangup", {}))[0] == 200
    assert await bench.request("GET", "/slots") == (200, {"slots": 1, "highest": 2})


async def test_a_request_has_its_call_whatever_the_number_is(bench: Bench) -> None:
    """A request that comes again after a change returns the call that it started."""
    await bench.store.add_nodes(["pbx1"], SLOTS)
    body = {"requestId": "order_1234"}
    first = await bench.start_call(**body)
    for slots in (1, 64):
        await bench.request("PUT", "/slots", {"slots": slots})
        assert await bench.start_call(**body) == first


@pytest.mark.parametrize("slots", [0, 65, "x", 1.5, None])
async def test_an_impossible_number(bench: Bench, slots: object) -> None:
    """It is refused, and names the field."""
    assert await bench.problem("PUT", "/slots", {"slots": slots}) == (400, "invalid")


async def test_the_command(bench: Bench, tmp_path: Path) -> None:
    """`switchroom slots` shows and changes it, and says what to set."""
    await bench.store.add_nodes(["pbx1"], SLOTS)
    status, out, _ = await switchroom(tmp_path, bench.url, "slots", "--token", TOKEN)
    assert (status, out) == (0, "2 slots per node get new calls\n")
    status, out, _ = await switchroom(tmp_path, bench.url, "slots", "1", "--token", TOKEN)
    assert status == 0
    assert "SWITCHROOM_SLOTS" in out
    assert "1 slots per node get new calls; 1 end with their calls" in out


async def test_another_engine_watches_a_node(bench: Bench) -> None:
    """What the node's supervisor reports is shown, and decides where calls go."""
    bench.cluster.reports["pbx1"] = NodeReport(
        is_watched=True, is_trunk_unreachable=True, unregistered=("carrier",), calls=7, loss=0.02
    )
    view = await shown(bench)
    assert view["amiConnected"] is True
    assert view["trunkReachable"] is False
    assert (view["unregistered"], view["coreCalls"], view["loss"]) == (["carrier"], 7, 0.02)
    assert await bench.problem("POST", "/calls", CALL) == (503, "trunk_away")
    bench.cluster.reports["pbx1"] = NodeReport(is_shutting_down=True)
    assert await bench.problem("POST", "/calls", CALL) == (503, "node_leaving")
    bench.service.node_selection.status("pbx1").health.on_booted()
    await bench.start_call()


async def test_a_shutdown_that_a_new_supervisor_has_seen_end(bench: Bench) -> None:
    """What this engine saw when it was the supervisor counts only while no engine knows better."""
    bench.service.node_selection.status("pbx1").health.on_shutdown()
    assert await bench.problem("POST", "/calls", CALL) == (503, "node_leaving")
    bench.cluster.reports["pbx1"] = NodeReport()
    assert await bench.problem("POST", "/calls", CALL) == (503, "node_leaving")
    bench.cluster.reports["pbx1"] = NodeReport(is_watched=True)
    await bench.start_call()
