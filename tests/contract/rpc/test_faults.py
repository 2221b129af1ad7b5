"""The RPC while nodes or the store are unavailable."""

import asyncio

import pytest

from base.listen import BindFailed
from engine.calls.model.events import LegCreated
from engine.rpc.access import RpcAccess
from engine.rpc.server import serving
from engine.runtime.shard.shard import CallShard
from tests.harness.rpc.scene import CALL, TOKEN, RpcScene, inject
from tests.harness.until import until


async def test_without_a_node_nothing_starts(scene: RpcScene) -> None:
    """Without a usable node a new call gets 503, and /readyz has the reason."""
    for shard in scene.service.nodes["pbx1"].shards.values():
        shard.pause()
    assert await scene.problem("POST", "/calls", CALL) == (503, "no_node")
    async with scene.session.get(scene.url + "/readyz") as got:
        assert got.status == 503
        assert "node pbx1 is disconnected" in (await got.json())["faults"]
    assert await scene.problem("POST", "/calls", {**CALL, "node": "pbx1"}) == (503, "no_node")


async def test_an_address_that_another_has(scene: RpcScene) -> None:
    """A second engine on the same port fails; the first one is not disturbed."""
    access = RpcAccess(scene.url, TOKEN)
    with pytest.raises(BindFailed, match=f"can't listen at 127.0.0.1:{scene.port}"):
        async with serving(scene.dependencies, access, "127.0.0.1", scene.port):
            raise AssertionError
    assert (await scene.request("GET", "/nodes"))[0] == 200


async def test_an_unheard_slot_gets_no_call(scene: RpcScene) -> None:
    """New calls do not begin in a slot without a listener, which would lose their legs."""
    scene.service.nodes["pbx1"].shards[0].pause()
    answers = [await scene.request("POST", "/calls", CALL) for _ in range(20)]
    assert {(status, answer["callId"][0]) for status, answer in answers} == {(201, "1")}
    named = [{**CALL, "requestId": f"request{number:02}"} for number in range(20)]
    assert {(await scene.request("POST", "/calls", each))[0] for each in named} == {201}
    async with scene.session.get(scene.url + "/readyz") as got:
        assert got.status == 503


async def test_while_the_store_is_away(scene: RpcScene) -> None:
    """Without the store, live calls are readable; other reads and new calls get 503."""
    call_id = await scene.start_call()
    scene.store.down = True
    _, problem = await scene.request("GET", "/calls/0-pbx1-abcdefgh")
    assert (problem["status"], problem["code"]) == (503, "store_down")
    assert problem["detail"] == "the store can't be used now"  # without the server's name
    assert (await scene.request("GET", f"/calls/{call_id}"))[0] == 200
    body = {**CALL, "requestId": "order_1234"}
    assert await scene.problem("POST", "/calls", body) == (503, "store_down")
    inject(scene, LegCreated(f"{call_id}.l0"))
    await until(lambda: not any(shard.can_store for shard in shards_with_calls(scene)))
    async with scene.session.get(scene.url + "/readyz") as got:
        assert got.status == 503
        assert "store: the store can't be used now" in (await got.json())["faults"]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    statuses = set()
    while 503 not in statuses:
        async with scene.session.post(
            f"{scene.url}/rpc/v1/calls", json={**CALL, "node": "pbx1"}, headers=headers
        ) as got:
            statuses.add(got.status)
            assert "Retry-After" in got.headers
    scene.store.down = False


async def test_a_hangup_is_stored_before_it_is_acknowledged(scene: RpcScene) -> None:
    """Without the store a hangup is not acknowledged."""
    call_id = await scene.start_call()
    scene.store.down = True
    asking = asyncio.create_task(scene.request("POST", f"/calls/{call_id}/hangup", {}))
    await until(lambda: not any(shard.can_store for shard in shards_with_calls(scene)))
    assert not asking.done()
    scene.store.down = False
    assert (await asking)[0] == 200


def shards_with_calls(scene: RpcScene) -> list[CallShard]:
    """Return the shards that have calls."""
    return [shard for shard in scene.service.nodes["pbx1"].shards.values() if shard.calls]
