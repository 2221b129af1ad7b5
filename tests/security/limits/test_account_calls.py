"""S5: an account has a limited number of live calls, in both directions, and of new inbound ones.

The limits are those of the account whose number is called, whoever calls it.
"""

from collections import Counter
from functools import partial

from engine.calls.model.causes import BUSY, UNSPECIFIED
from engine.runtime.base.node_report import AccountUse
from engine.runtime.pbx_nodes.node import IncomingChannel
from tests.harness.rpc.scene import CALL, SAY, RpcScene
from tests.harness.until import until

NUMBER, FLOOD = "+4721930444", 30
OTHER_CALL = {**CALL, "account": "other"}


async def flood(scene: RpcScene) -> Counter[str | None]:
    """Let 30 callers arrive; return how many got which cause, or none."""
    route = {"account": "acme", "action": SAY}
    await scene.documents.route(NUMBER, route)
    shard = scene.service.nodes["pbx1"].shards[0]
    for caller in range(FLOOD):
        channel = IncomingChannel(f"170000.{caller}", "+4799", NUMBER)
        scene.service.handle_incoming(shard, channel)
        await until(partial(is_handled, scene, channel.channel), what="the caller's call or cause")
    hangups = (each.request for each in scene.pbx.sent if each.request.method == "DELETE")
    outcomes = Counter[str | None](dict(each.query)["reason_code"] for each in hangups)
    outcomes[None] = scene.service.node_selection.legs.of("acme").calls
    return outcomes


def is_handled(scene: RpcScene, channel: str) -> bool:
    is_live = scene.service.nodes["pbx1"].shards[0].find_by_channel(channel) is not None
    return is_live or f"DELETE channels/{channel}" in scene.pbx.lines


async def test_a_flood_of_callers_leaves_room_for_other_accounts(scene: RpcScene) -> None:
    """They hear that the number is busy; neither the engine's calls nor its rate are used up."""
    scene.service.node_selection.rate_limiter.max_calls = 20
    await scene.request("PUT", "/terms/acme", {"maxCalls": 2})
    assert await flood(scene) == {None: 2, str(BUSY): FLOOD - 2}
    rejected = scene.telemetry.metrics.calls.rejected
    assert dict(rejected)["inbound", "live_calls"] == FLOOD - 2
    assert (await scene.request("POST", "/calls", OTHER_CALL))[0] == 201
    status, answer = await scene.request("POST", "/calls", CALL)
    assert (status, answer["code"]) == (429, "live_calls")
    assert answer["detail"] == "account acme exceeds 2 live calls (--max-calls)"


async def test_calls_at_other_engines(scene: RpcScene) -> None:
    """They count, so an account has its limit once, however many engines there are."""
    await scene.request("PUT", "/terms/acme", {"maxCalls": 2})
    scene.cluster.account = AccountUse(calls=1)
    assert await flood(scene) == {None: 1, str(BUSY): FLOOD - 1}


async def test_calls_that_the_account_has_placed(scene: RpcScene) -> None:
    """They count, too; what ends makes room."""
    await scene.request("PUT", "/terms/acme", {"maxCalls": 1})
    await scene.start_call()
    assert await flood(scene) == {None: 1, str(BUSY): FLOOD}


async def test_new_inbound_calls_a_second(scene: RpcScene) -> None:
    """The caller may try again later; calls that the account places have a rate of their own."""
    await scene.request("PUT", "/terms/acme", {"maxCallsPerS": 0.1})
    assert await flood(scene) == {None: 1, str(UNSPECIFIED): FLOOD - 1}
    rejected = scene.telemetry.metrics.calls.rejected
    assert dict(rejected)["inbound", "call_rate"] == FLOOD - 1
    assert (await scene.request("POST", "/calls", CALL))[0] == 201


async def test_an_account_whose_calls_have_written_too_much(scene: RpcScene) -> None:
    """It starts and gets no further call; those that are live go on, and other accounts' start."""
    await scene.request("PUT", "/terms/acme", {"maxCalls": 20})
    call = await scene.start_call()
    scene.logs.count("acme", 20 * 8_000_000, scene.clock.now_ms())
    assert await flood(scene) == {None: 1, str(UNSPECIFIED): FLOOD}
    rejected = scene.telemetry.metrics.calls.rejected
    assert dict(rejected)["inbound", "log_quota"] == FLOOD
    status, answer = await scene.request("POST", "/calls", CALL)
    assert (status, answer["code"]) == (429, "log_quota")
    assert (await scene.request("POST", f"/calls/{call}/hangup"))[0] == 200
    assert (await scene.request("POST", "/calls", OTHER_CALL))[0] == 201


async def test_what_calls_write_is_counted(scene: RpcScene) -> None:
    """The log, and the state that is kept of an ended call: each call of a flood has both."""
    await scene.request("PUT", "/terms/acme", {"maxCalls": 1})
    scene.logs.count("acme", 8_000_000 - 3_000, scene.clock.now_ms())
    status = 201
    for _ in range(9):
        status, answer = await scene.request("POST", "/calls", CALL)
        if status == 429:
            break
        await scene.request("POST", f"/calls/{answer['callId']}/hangup")
        await until(lambda: not scene.service.node_selection.legs.of("acme").calls, what="its end")
    assert (status, answer["code"]) == (429, "log_quota")
