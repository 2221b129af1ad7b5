"""Calls over the RPC: started once, shown, listed, hung up, replayed."""

import asyncio
import json

from engine.calls.model.events import LegCreated
from tests.harness.rpc.scene import CALL, SAY, RpcScene, created, end, inject, is_stored_as
from tests.harness.shards import at
from tests.harness.until import until


async def test_a_call_is_started_and_shown(scene: RpcScene) -> None:
    """201 has the call's id; the view has the requested values, in camelCase."""
    call_id = await scene.start_call(action=SAY, customData={"order": 7}, **{"from": "+4799999999"})
    status, view = await scene.request("GET", f"/calls/{call_id}")
    assert status == 200
    assert (view["callId"], view["account"], view["node"]) == (call_id, "acme", "pbx1")
    assert (view["from"], view["to"], view["status"]) == ("+4799999999", CALL["to"], "initiated")
    assert (view["state"], view["direction"]) == ("starting", "outbound")
    assert view["customData"] == {"order": 7}
    assert view["legs"] == [
        {"channelId": f"{call_id}.l0", "party": CALL["to"], "state": "requested"}
    ]
    assert created(scene) == [f"{call_id}.l0"]


async def test_live_calls_are_listed_by_account(scene: RpcScene) -> None:
    """The list has all live calls, or those of one account."""
    first, second = await scene.start_call(), await scene.start_call(account="other")
    _, everything = await scene.request("GET", "/calls")
    assert {call["callId"] for call in everything["calls"]} == {first, second}
    _, own = await scene.request("GET", "/calls?account=other")
    assert [call["callId"] for call in own["calls"]] == [second]


async def test_a_call_is_hung_up_once(scene: RpcScene) -> None:
    """A live call gets 200, an ended one 409. The ended call can still be read."""
    call_id = await scene.start_call()
    scene.pbx.settle()
    status, view = await scene.request("POST", f"/calls/{call_id}/hangup", {"account": "acme"})
    assert (status, view["state"]) == (200, "ending")
    await until(lambda: f"DELETE channels/{call_id}.l0" in scene.pbx.lines)
    end(scene, call_id)
    await until(lambda: scene.service.find(call_id) is None)
    conflict = await scene.problem("POST", f"/calls/{call_id}/hangup", b"")
    assert conflict == (409, "call_ended")
    await until(lambda: is_stored_as(scene, call_id, "canceled"))
    _, view = await scene.request("GET", f"/calls/{call_id}")
    assert (view["state"], view["endedBy"]) == ("ended", "api")


async def test_a_story_is_shown(scene: RpcScene) -> None:
    """The timeline is the log replayed through the core: events and commands, in words."""
    call_id = await scene.start_call(action=SAY)
    scene.pbx.settle()
    inject(scene, LegCreated(f"{call_id}.l0"))
    await until(lambda: len(log_of(scene, call_id)) == 3)
    status, story = await scene.request("GET", f"/calls/{call_id}/timeline")
    assert status == 200
    (row,) = story["rows"]
    assert row["text"].startswith("calls +47")
    assert (row["from"], row["to"], row["details"]["type"]) == (
        "engine", f"{call_id}.l0", "originate",
    )  # fmt: skip
    assert row["begins"] == [
        {"lifeline": row["to"], "kind": "leg", "text": row["details"]["party"]}
    ]
    assert [(each["id"], each["heading"]) for each in story["lifelines"]] == [
        ("engine", "engine"), (row["to"], "A"),
    ]  # fmt: skip
    assert story["call"]["callId"] == call_id


def log_of(scene: RpcScene, call_id: str) -> list[bytes]:
    """Read a call's log."""
    return scene.store._shard(at(int(call_id[0]))).logs.get(call_id, [])  # noqa: SLF001 - no await


async def test_the_same_request_id_is_the_same_call(scene: RpcScene) -> None:
    """A repeated requestId returns the same call, live or ended."""
    first = await scene.start_call(requestId="order_1234")
    assert await scene.start_call(requestId="order_1234", to="+4722222222") == first
    end(scene, first)
    await until(lambda: is_stored_as(scene, first, "failed"))
    assert await scene.start_call(requestId="order_1234") == first
    assert await scene.start_call(requestId="order_1235") != first


async def test_a_request_id_requested_many_times_at_once(scene: RpcScene) -> None:
    """Concurrent identical requests make one call and dial once."""
    made = await asyncio.gather(*(scene.start_call(requestId="order_1234") for _ in range(20)))
    assert len(set(made)) == 1
    assert created(scene) == [f"{made[0]}.l0"]
    assert scene.service.live_calls == 1


async def test_another_accounts_request_id(scene: RpcScene) -> None:
    """A requestId of another account's call gives no access to it."""
    call_id = await scene.start_call(requestId="order_1234")
    body = {**CALL, "account": "other", "requestId": "order_1234"}
    status, answer = await scene.request("POST", "/calls", body)
    assert (status, answer["code"]) == (409, "conflict")
    assert call_id not in json.dumps(answer)
