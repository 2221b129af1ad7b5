"""Control of a live call's legs over the RPC: mute, hold, call one more in, hang up."""

import asyncio

import pytest

from tests.contract.rpc.harness.bench import SAY, Bench
from tests.contract.rpc.harness.conversation import AGENT, Conversation, talking


async def test_a_call_shows_its_verb_and_its_legs(bench: Bench) -> None:
    """The view names the running verb; what is not muted, held or handed over is left out."""
    talk = await talking(bench)
    view = await talk.shown()
    assert (view["verb"], view["state"]) == ("dial", "bridged")
    assert [leg["channelId"] for leg in view["legs"]] == [talk.customer, talk.agent]
    assert not {"muted", "held"} & view["legs"][0].keys()
    assert not {"transfers", "conferences"} & view.keys()


async def test_a_call_shows_which_verb_runs(bench: Bench) -> None:
    """None while its main leg is called, then each that runs, by its type."""
    call = await bench.start_call(action={**SAY, "action": {"type": "hangup"}})
    talk = Conversation(bench, call)
    assert "verb" not in await talk.shown()
    talk.answers(talk.customer)
    assert (await talk.shown())["verb"] == "say"


@pytest.mark.parametrize("direction", ["in", "out", "both"])
async def test_a_leg_is_muted_and_unmuted(bench: Bench, direction: str) -> None:
    """Mute and unmute show on the leg and reach the PBX; repeats answer alike, and do no more."""
    talk = await talking(bench)
    for _ in range(2):
        view = await talk.posted("mute", channelId=talk.agent, direction=direction)
        assert view["legs"][1]["muted"] == direction
    await talk.does(f"POST channels/{talk.agent}/mute")
    for _ in range(2):
        view = await talk.posted("unmute", channelId=talk.agent)
        assert "muted" not in view["legs"][1]
    await talk.does(f"DELETE channels/{talk.agent}/mute")
    assert bench.pbx.lines.count(f"POST channels/{talk.agent}/mute") == 1


async def test_mute_silences_what_a_leg_says_unless_told_otherwise(bench: Bench) -> None:
    """Without a direction it is `in`."""
    talk = await talking(bench)
    assert (await talk.posted("mute", channelId=talk.agent))["legs"][1]["muted"] == "in"


async def test_a_leg_is_held_and_taken_back(bench: Bench) -> None:
    """Hold and unhold show on the leg, and the PBX plays music to it; repeats answer alike."""
    talk = await talking(bench)
    for _ in range(2):
        view = await talk.posted("hold", channelId=talk.customer)
        assert view["legs"][0]["held"] is True
    await talk.does(f"POST channels/{talk.customer}/moh")
    for _ in range(2):
        view = await talk.posted("unhold", channelId=talk.customer)
        assert "held" not in view["legs"][0]
    await talk.does(f"DELETE channels/{talk.customer}/moh")
    assert bench.pbx.lines.count(f"POST channels/{talk.customer}/moh") == 1


async def test_one_more_party_is_called(bench: Bench) -> None:
    """Dial tells the leg that it made, which is the call's and whose party rings."""
    talk = await talking(bench)
    told = await talk.posted("dial", target="agent:1002", callerId="+4721930000", timeout=20)
    assert told["callId"] == talk.call
    leg = (await talk.shown())["legs"][2]
    assert (leg["channelId"], leg["party"]) == (told["channelId"], "agent:1002")
    talk.answers(told["channelId"])
    assert [leg["state"] for leg in (await talk.shown())["legs"]] == ["up"] * 3


async def test_many_dials_at_once(bench: Bench) -> None:
    """Each is told its own leg; a party that is being called is not called twice."""
    talk = await talking(bench)
    asked = [{"target": "+4733333333"}, {"target": "+4744444444"}, {"target": "+4733333333"}]
    told = await asyncio.gather(*(talk.posted("dial", **each) for each in asked))
    parties = {leg["channelId"]: leg["party"] for leg in (await talk.shown())["legs"]}
    assert told[0] == told[2] != told[1]
    assert [parties[each["channelId"]] for each in told] == [each["target"] for each in asked]


async def test_a_dial_before_the_answer_is_refused(bench: Bench) -> None:
    """Nobody is there yet to talk to: 409."""
    call = await bench.start_call()
    asked = {"target": "+4733333333"}
    assert await bench.problem("POST", f"/calls/{call}/dial", asked) == (409, "not_answered")


async def test_a_leg_is_hung_up_by_its_channel(bench: Bench) -> None:
    """Only that leg goes; the call lives on."""
    talk = await talking(bench)
    told = await talk.posted("dial", target="agent:1002")
    view = await talk.posted("hangup", channelId=told["channelId"])
    assert view["state"] == "bridged"
    await talk.does(f"DELETE channels/{told['channelId']}")
    assert f"DELETE channels/{talk.customer}" not in bench.pbx.lines


async def test_an_agents_own_leg_is_hung_up(bench: Bench) -> None:
    """An agent is found by its id; one without a leg is not found, and nothing is hung up."""
    talk = await talking(bench)
    assert await talk.refused("hangup", agentId="1009") == (404, "no_such_leg")
    await talk.posted("hangup", agentId=AGENT)
    await talk.does(f"DELETE channels/{talk.agent}")
    assert f"DELETE channels/{talk.customer}" not in bench.pbx.lines


async def test_a_node_that_is_being_looked_at_is_waited_for(bench: Bench) -> None:
    """As after a takeover: who asks then is answered in a moment, not refused."""
    talk = await talking(bench)
    for shard in bench.service.nodes["pbx1"].shards.values():
        shard.pause()
        asyncio.get_running_loop().call_later(0.1, shard.resume)
    asked = [("mute", {"channelId": talk.agent}), *[("dial", {"target": "agent:1002"})] * 2]
    muted, *told = await asyncio.gather(*(talk.posted(deed, **more) for deed, more in asked))
    assert muted["legs"][1]["muted"] == "in"
    assert told[0] == told[1]  # asked twice, called once
    assert len((await talk.shown())["legs"]) == 3


async def test_while_the_node_is_away_nothing_is_promised(bench: Bench) -> None:
    """503 with the reason, and the call stays as it was; hangup alone is taken for later."""
    talk = await talking(bench)
    for shard in bench.service.nodes["pbx1"].shards.values():
        shard.pause()
    assert await talk.refused("mute", channelId=talk.agent) == (503, "node_away")
    assert "muted" not in (await talk.shown())["legs"][1]
    assert (await talk.post("hangup"))[0] == 200
