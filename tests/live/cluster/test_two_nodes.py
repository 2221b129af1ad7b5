"""Two PBX nodes under one engine: placement of calls, drains and failures of a node."""

import os
import signal
import sys
from collections import Counter
from pathlib import Path

from dev.servers.process import Process
from tests.harness.live_lab import Lab
from tests.harness.pbx.two_nodes import GRACE_S, WAITS, TwoNodes, node_of
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import Api
from tests.harness.servers.engine import Engine
from tests.harness.until import MAX_WAIT_S, until

HANGUP = {"type": "hangup", "data": {}}
LONG_GRACE_S = 10  # from when the engine runs: it still shows the call
ROOT = Path(__file__).parents[3]


async def test_calls_are_spread_by_weight_up_to_the_limits(two: TwoNodes) -> None:
    """Calls are spread three to one; then the limits of node and trunk refuse by their codes."""
    placed = Counter([node_of(await two.call()) for _ in range(8)])
    assert placed == {"pbx1": 6, "pbx2": 2}
    assert [node_of(await two.call(node="pbx2")) for _ in range(2)] == ["pbx2", "pbx2"]
    assert await two.refusal(node="pbx2") == (503, "node_full")
    assert await two.refusal() == (503, "trunk_full")
    async with Phone.calling(two.nodes[1], await two.lab(1).add_number(HANGUP)) as caller:
        await caller.wait_ended()
        assert caller.status == 503


async def test_a_drained_node_gets_no_call(two: TwoNodes, tmp_path: Path) -> None:
    """It gets no new call; the live call continues, and the command exits after its end."""
    settings = {"SWITCHROOM_ACCOUNT_SCOPES": '["operations"]'}
    async with Api(tmp_path / "api", engines=[two.engine], settings=settings) as api:
        live = await two.call(node="pbx1")
        await two.wait_answered(live)
        command = _switchroom(api, tmp_path, "node", "drain", "pbx1")
        await until(lambda: "1 live calls" in _printed(tmp_path), what="the count")
        assert [node_of(await two.call()) for _ in range(3)] == ["pbx2"] * 3
        assert await two.refusal(node="pbx1") == (503, "node_drained")
        async with Phone.calling(two.nodes[0], await two.lab(0).add_number(HANGUP)) as caller:
            await caller.wait_ended()
            assert caller.status == 503
        assert command.alive()
        assert (await two.engine.call(live))["state"] == "gathering"
        await two.engine.rpc("POST", f"/calls/{live}/hangup", {})
        await until(lambda: not command.alive(), what="the command to end")
        assert _printed(tmp_path).endswith("node pbx1 is empty\n")
    await two.engine.rpc("POST", "/nodes/pbx1/undrain")
    assert node_of(await two.call()) == "pbx1"


async def test_a_disconnected_node_can_be_drained(two: TwoNodes) -> None:
    """The node stays drained after its restart and after a restart of the engine."""
    await two.nodes[1].kill()
    await until(lambda: _is_disconnected(two, "pbx2"), what="pbx2 to be disconnected")
    assert (await two.engine.rpc("POST", "/nodes/pbx2/drain"))["drained"]
    await two.engine.kill()
    await two.nodes[1].start()
    await two.engine.start()
    await until(lambda: _refuses(two, "pbx2", "node_drained"), what="pbx2 to be drained")


async def test_a_dead_node_ends_only_its_own_calls(two: TwoNodes) -> None:
    """Its calls end as lost after the grace; new calls go to the other node at once.

    Calls of the other node continue. After a restart the node gets calls again.
    """
    calls = [await two.call() for _ in range(4)]
    for call in calls:
        await two.wait_answered(call)
    lost = [each for each in calls if node_of(each) == "pbx1"]
    await two.nodes[0].kill()
    assert node_of(await two.call(node="pbx2")) == "pbx2"
    await until(lambda: _is_disconnected(two, "pbx1"), what="pbx1 to be disconnected")
    assert node_of(await two.call()) == "pbx2"
    for call in lost:
        view = await two.lab(0).wait_ended(call, GRACE_S + MAX_WAIT_S)
        assert (view["status"], view["reason"]) == ("completed", "lost")
        assert (await two.engine.wait_for_event(call, "completed"))["callId"] == call
    assert (await two.call_counts()) == {"pbx1": 0, "pbx2": 3}
    await two.nodes[0].start()
    await until(lambda: _is_connected(two, "pbx1"), what="pbx1 to be connected")
    assert node_of(await two.call()) == "pbx1"


async def test_orphans_on_a_node_are_removed(two: TwoNodes) -> None:
    """A node suspended for longer than the grace loses its calls; their channels are removed."""
    call = await two.call(node="pbx1")
    await two.wait_answered(call)
    os.kill(two.nodes[0].pid, signal.SIGSTOP)
    try:
        view = await two.lab(0).wait_ended(call, GRACE_S + MAX_WAIT_S)
        assert (view["status"], view["reason"]) == ("completed", "lost")
    finally:
        os.kill(two.nodes[0].pid, signal.SIGCONT)
    await two.lab(0).wait_empty()


async def test_calls_of_a_removed_node_end(two: TwoNodes, tmp_path: Path) -> None:
    """An engine that starts without the node ends its calls as lost after the grace."""
    call = await two.call(node="pbx2")
    await until(lambda: _is_answered(two, call), what="the answer to be stored")
    await two.engine.kill()
    settings = {"SWITCHROOM_NODE_GRACE_S": str(LONG_GRACE_S)}
    async with two.new_engine(tmp_path / "other", two.nodes[:1], **settings) as other:
        ends = Lab(two.valkey, two.nodes[0], other, two.trunk_port)
        assert (await other.call(call))["state"] == "gathering"
        view = await ends.wait_ended(call, LONG_GRACE_S + MAX_WAIT_S)
        assert (view["status"], view["reason"]) == ("completed", "lost")

        async def is_removed() -> bool:
            return len((await other.rpc("GET", "/nodes"))["nodes"]) == 1

        await until(is_removed, what="the node to be removed")


async def test_a_node_is_discovered_by_dns(two: TwoNodes, tmp_path: Path) -> None:
    """Each address of a DNS name is a node named after it, which takes calls."""
    await two.engine.kill()
    pbx = two.nodes[0]
    settings = {
        "SWITCHROOM_NODE_DNS": f"127.0.0.1:{pbx.ports.ari}",
        "SWITCHROOM_NODE_PASSWORD": pbx.ari_password,
        "SWITCHROOM_NODE_MEDIA_URL": "http://127.0.0.1:1",
    }
    async with two.new_engine(tmp_path / "found", [], **settings) as engine:
        lab = Lab(two.valkey, pbx, engine, two.trunk_port)
        await until(lambda: _are_connected(engine), what="the node to be connected")
        call = await lab.call(to="+15550100", action=WAITS)
        assert node_of(call) == "ip7f000001"
        await lab.wait_for_state(call, "gathering")
        await engine.rpc("POST", f"/calls/{call}/hangup", {})
        await lab.wait_ended(call)


async def test_nodes_are_monitored_over_ami(two: TwoNodes) -> None:
    """The engine is connected to AMI of both nodes."""
    await until(lambda: _have_ami(two), what="AMI of both nodes")


def _switchroom(api: Api, folder: Path, *arguments: str) -> Process:
    """Start the `switchroom` command with its output in a file."""
    env = {
        "SWITCHROOM_API_URL": api.url,
        "SWITCHROOM_API_KEY": api.api_key,
        "PYTHONPATH": str(ROOT),
    }
    argv = (sys.executable, "-m", "switchroom", *arguments)
    return Process.start(argv, log=folder / "printed", env=env, cwd=folder)


def _printed(folder: Path) -> str:
    return (folder / "printed").read_text()


async def _is_answered(two: TwoNodes, call: str) -> bool:
    return any(each["type"] == "leg-answered" for each in await two.lab(0).timeline_events(call))


async def _is_disconnected(two: TwoNodes, name: str) -> bool:
    return not (await two.node(name))["connected"]


async def _are_connected(engine: Engine) -> bool:
    found = (await engine.rpc("GET", "/nodes"))["nodes"]
    return all(each["connected"] for each in found)


async def _is_connected(two: TwoNodes, name: str) -> bool:
    return not await _is_disconnected(two, name)


async def _have_ami(two: TwoNodes) -> bool:
    return all([(await two.node(each.name)).get("amiConnected") for each in two.nodes])


async def _refuses(two: TwoNodes, name: str, code: str) -> bool:
    return bool((await two.node(name)).get("unavailableReason", "") == code)
