"""The RPC while nodes or the store are unavailable."""

import asyncio

import pytest

from engine.calls.model.events import LegCreated
from engine.rpc.access import RpcAccess
from engine.rpc.server import BindFailed, serving
from engine.runtime.shard.shard import CallShard
from tests.contract.rpc.harness.bench import CALL, TOKEN, Bench, inject
from tests.harness.until import until


async def test_without_a_node_nothing_starts(bench: Bench) -> None:
    """Without a usable node a new call gets 503, and /readyz has the reason."""
    for shard in bench.service.nodes["pbx1"].shards.values():
        shard.pause()
    assert await bench.problem("POST", "/calls", CALL) == (503, "no_node")
    async with bench.session.get(bench.url + "/readyz") as got:
        assert got.status == 503
        assert "node pbx1 is disconnected" in (await got.json())["faults"]
    assert await bench.problem("POST", "/calls", {**CALL, "node": "pbx1"}) == (503, "no_node")


async def test_an_address_that_another_has(bench: Bench) -> None:
    """A second engine on the same port fails; the first one is not disturbed."""
    access = RpcAccess(bench.url, TOKEN)
    with pytest.raises(BindFailed, match=f"can't listen at 127.0.0.1:{bench.port}"):
        async with serving(bench.dependencies, access, "127.0.0.1", bench.port):
            raise AssertionError
    assert (await bench.request("GET", "/nodes"))[0] == 200


async def test_an_unheard_slot_gets_no_call(bench: Bench) -> None:
    """New calls do not begin in a slot without a listener, which would lose their legs."""
    bench.service.nodes["pbx1"].shards[0].pause()
    answers = [await bench.request("POST", "/calls", CALL) for _ in range(20)]
    assert {(status, answer["callId"][0]) for status, answer in answers} == {(201, "1")}
    named = [{**CALL, "requestId": f"request{number:02}"} for number in range(20)]
    assert {(await bench.request("POST", "/calls", each))[0] for each in named} == {201}
    async with bench.session.get(bench.url + "/readyz") as got:
        assert got.status == 503


async def test_while_the_store_is_away(bench: Bench) -> None:
    """Without the store, live calls are readable; other reads and new calls get 503."""
    call_id = await bench.start_call()
    bench.store.down = True
    _, problem = await bench.request("GET", "/calls/0-pbx1-abcdefgh")
    assert (problem["status"], problem["code"]) == (503, "store_down")
    assert problem["detail"] == "the store can't be used now"  # without the server's name
    assert (await bench.request("GET", f"/calls/{call_id}"))[0] == 200
    body = {**CALL, "requestId": "order_1234"}
    assert await bench.problem("POST", "/calls", body) == (503, "store_down")
    inject(bench, LegCreated(f"{call_id}.l0"))
    await until(lambda: not any(shard.can_store for shard in shards_with_calls(bench)))
    async with bench.session.get(bench.url + "/readyz") as got:
        assert got.status == 503
        assert "store: the store can't be used now" in (await got.json())["faults"]
    headers = {"Authorization": f"Bearer {TOKEN}"}
    statuses = set()
    while 503 not in statuses:
        async with bench.session.post(
            f"{bench.url}/rpc/v1/calls", json={**CALL, "node": "pbx1"}, headers=headers
        ) as got:
            statuses.add(got.status)
            assert "Retry-After" in got.headers
    bench.store.down = False


async def test_a_hangup_is_stored_before_it_is_acknowledged(bench: Bench) -> None:
    """Without the store a hangup is not acknowledged."""
    call_id = await bench.start_call()
    bench.store.down = True
    asking = asyncio.create_task(bench.request("POST", f"/calls/{call_id}/hangup", {}))
    await until(lambda: not any(shard.can_store for shard in shards_with_calls(bench)))
    assert not asking.done()
    bench.store.down = False
    assert (await asking)[0] == 200


def shards_with_calls(bench: Bench) -> list[CallShard]:
    """Return the shards that have calls."""
    return [shard for shard in bench.service.nodes["pbx1"].shards.values() if shard.calls]
