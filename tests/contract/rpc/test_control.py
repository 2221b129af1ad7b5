"""Control of a live call's legs over the RPC: mute, hold, dial, hang up."""

import asyncio

import pytest

from tests.harness.rpc.conversation import AGENT, Conversation, talking
from tests.harness.rpc.scene import SAY, RpcScene


async def test_a_call_shows_its_verb_and_its_legs(scene: RpcScene) -> None:
    """The view has the running verb, and omits what does not apply, such as `muted`."""
    conversation = await talking(scene)
    view = await conversation.shown()
    assert (view["verb"], view["state"]) == ("dial", "bridged")
    assert [leg["channelId"] for leg in view["legs"]] == [conversation.customer, conversation.agent]
    assert not {"muted", "held"} & view["legs"][0].keys()
    assert not {"transfers", "conferences"} & view.keys()


async def test_a_call_shows_which_verb_runs(scene: RpcScene) -> None:
    """The view has no verb while the main leg is called, then the type of the running one."""
    call = await scene.start_call(action={**SAY, "action": {"type": "hangup"}})
    conversation = Conversation(scene, call)
    assert "verb" not in await conversation.shown()
    conversation.answers(conversation.customer)
    assert (await conversation.shown())["verb"] == "say"


@pytest.mark.parametrize("direction", ["in", "out", "both"])
async def test_a_leg_is_muted_and_unmuted(scene: RpcScene, direction: str) -> None:
    """Mute and unmute show on the leg and reach the PBX; repeats have no further effect."""
    conversation = await talking(scene)
    for _ in range(2):
        view = await conversation.posted("mute", channelId=conversation.agent, direction=direction)
        assert view["legs"][1]["muted"] == direction
    await conversation.does(f"POST channels/{conversation.agent}/mute")
    for _ in range(2):
        view = await conversation.posted("unmute", channelId=conversation.agent)
        assert "muted" not in view["legs"][1]
    await conversation.does(f"DELETE channels/{conversation.agent}/mute")
    assert scene.pbx.lines.count(f"POST channels/{conversation.agent}/mute") == 1


async def test_mute_silences_what_a_leg_says_by_default(scene: RpcScene) -> None:
    """The default direction is `in`."""
    conversation = await talking(scene)
    assert (await conversation.posted("mute", channelId=conversation.agent))["legs"][1][
        "muted"
    ] == "in"


async def test_a_leg_is_held_and_taken_back(scene: RpcScene) -> None:
    """Hold and unhold show on the leg, and the PBX plays music; repeats change nothing."""
    conversation = await talking(scene)
    for _ in range(2):
        view = await conversation.posted("hold", channelId=conversation.customer)
        assert view["legs"][0]["held"] is True
    await conversation.does(f"POST channels/{conversation.customer}/moh")
    for _ in range(2):
        view = await conversation.posted("unhold", channelId=conversation.customer)
        assert "held" not in view["legs"][0]
    await conversation.does(f"DELETE channels/{conversation.customer}/moh")
    assert scene.pbx.lines.count(f"POST channels/{conversation.customer}/moh") == 1


async def test_one_more_party_is_called(scene: RpcScene) -> None:
    """The response has the new leg, which belongs to the call and calls the party."""
    conversation = await talking(scene)
    result = await conversation.posted(
        "dial", target="agent:1002", callerId="+4721930000", timeout=20
    )
    assert result["callId"] == conversation.call
    leg = (await conversation.shown())["legs"][2]
    assert (leg["channelId"], leg["party"]) == (result["channelId"], "agent:1002")
    conversation.answers(result["channelId"])
    assert [leg["state"] for leg in (await conversation.shown())["legs"]] == ["up"] * 3


async def test_many_dials_at_once(scene: RpcScene) -> None:
    """Each response has its own leg; a party that is being called is not called twice."""
    conversation = await talking(scene)
    targets = "+4733333333", "+4744444444", "004733333333"
    body = [{"target": each} for each in targets]
    result = await asyncio.gather(*(conversation.posted("dial", **each) for each in body))
    parties = {leg["channelId"]: leg["party"] for leg in (await conversation.shown())["legs"]}
    assert result[0] == result[2] != result[1]
    assert [parties[each["channelId"]] for each in result[:2]] == list(targets[:2])


async def test_a_dial_before_the_answer_is_refused(scene: RpcScene) -> None:
    """A dial before the call is answered gets 409."""
    call = await scene.start_call()
    body = {"target": "+4733333333"}
    assert await scene.problem("POST", f"/calls/{call}/dial", body) == (409, "not_answered")


async def test_a_leg_is_hung_up_by_its_channel(scene: RpcScene) -> None:
    """Only that leg is hung up; the call continues."""
    conversation = await talking(scene)
    result = await conversation.posted("dial", target="agent:1002")
    view = await conversation.posted("hangup", channelId=result["channelId"])
    assert view["state"] == "bridged"
    await conversation.does(f"DELETE channels/{result['channelId']}")
    assert f"DELETE channels/{conversation.customer}" not in scene.pbx.lines


async def test_an_agents_own_leg_is_hung_up(scene: RpcScene) -> None:
    """The agent's id selects the leg; without a leg it gets 404, and nothing is hung up."""
    conversation = await talking(scene)
    assert await conversation.refused("hangup", agentId="1009") == (404, "no_such_leg")
    await conversation.posted("hangup", agentId=AGENT)
    await conversation.does(f"DELETE channels/{conversation.agent}")
    assert f"DELETE channels/{conversation.customer}" not in scene.pbx.lines


async def test_a_node_that_is_being_looked_at_is_waited_for(scene: RpcScene) -> None:
    """Requests wait while a node recovers, as after a takeover; they are not rejected."""
    conversation = await talking(scene)
    for shard in scene.service.nodes["pbx1"].shards.values():
        shard.pause()
        asyncio.get_running_loop().call_later(0.1, shard.resume)
    body = [("mute", {"channelId": conversation.agent}), *[("dial", {"target": "agent:1002"})] * 2]
    muted, *result = await asyncio.gather(
        *(conversation.posted(operation, **more) for operation, more in body)
    )
    assert muted["legs"][1]["muted"] == "in"
    assert result[0] == result[1]  # requested twice, called once
    assert len((await conversation.shown())["legs"]) == 3


async def test_while_the_node_is_away_nothing_is_acknowledged(scene: RpcScene) -> None:
    """Requests get 503 and change nothing; only a hangup is accepted, and executed later."""
    conversation = await talking(scene)
    for shard in scene.service.nodes["pbx1"].shards.values():
        shard.pause()
    assert await conversation.refused("mute", channelId=conversation.agent) == (503, "node_away")
    assert "muted" not in (await conversation.shown())["legs"][1]
    assert (await conversation.post("hangup"))[0] == 200


async def test_an_agents_endpoint_is_dialed(scene: RpcScene) -> None:
    """It is the agent's party; an endpoint of no agent, and the trunk, are rejected."""
    conversation = await talking(scene)
    agent = {"endpoint": "PJSIP/desk-7", "name": "Ada"}
    await scene.documents.agent("acme", "ada", agent)
    status, _ = await scene.request(
        "POST", f"/calls/{conversation.call}/dial", {"target": "PJSIP/desk-7"}
    )
    assert status == 200
    view = await conversation.shown()
    assert view["legs"][-1]["party"] == "agent:ada"
    for target in ("PJSIP/desk.8", "PJSIP/trunk"):
        path = f"/calls/{conversation.call}/dial"
        assert await scene.problem("POST", path, {"target": target}) == (400, "unknown_endpoint")
