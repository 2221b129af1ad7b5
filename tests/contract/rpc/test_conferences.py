"""Conferences over the RPC: add, kick, leave and coach; views by call and by agent."""

from typing import Any

import pytest

from tests.harness.rpc.conversation import AGENT, Conversation, talking
from tests.harness.rpc.scene import RpcScene

ADA = {"requestedByAgentId": AGENT, "targetAgentIds": ["1002"], "targetAgentNames": {"1002": "Ada"}}


async def conferring(scene: RpcScene) -> tuple[Conversation, dict[str, Any]]:
    """Connect customer, agent 1001 and agent 1002 in a conference."""
    conversation = await talking(scene)
    view = await conversation.posted("conference/members", **ADA)
    conversation.answers(view["members"][2]["channelId"])
    return conversation, await conversation.shown("/conference/members")


def states(view: dict[str, Any]) -> list[str]:
    """Return the states of a conference's members."""
    return [member["state"] for member in view["members"]]


async def test_a_member_is_called_in(scene: RpcScene) -> None:
    """The first member turns the conversation into a conference; call and agents show it."""
    conversation = await talking(scene)
    legs = {"customerChannelId": conversation.customer, "sourceChannelId": conversation.agent}
    view = await conversation.posted("conference/members", **ADA, **legs, sourceAgentId=AGENT)
    assert (view["state"], view["requestedByAgentId"], view["callId"]) == (
        "init",
        AGENT,
        conversation.call,
    )
    ada = view["members"][2]
    assert (ada["party"], ada["agent_id"], ada["name"]) == ("agent:1002", "1002", "Ada")
    assert states(view) == ["connected", "connected", "queued"]
    conversation.answers(ada["channelId"])
    live = await conversation.shown("/conference/members")
    assert (live["state"], states(live)) == ("in-progress", ["connected"] * 3)
    assert (await conversation.shown())["conferences"] == [live]
    for agent in (AGENT, "1002"):
        assert await scene.request("GET", f"/agents/acme/{agent}/conference") == (200, live)


async def test_a_member_requested_again_is_not_called_again(scene: RpcScene) -> None:
    """A member who is connected or called, by agent or number, is not called again."""
    conversation = await talking(scene)
    outside = {"requestedByAgentId": AGENT, "targetExternalNumber": "+4733333333"}
    for body in (ADA, outside):
        first = await conversation.posted("conference/members", **body)
        assert await conversation.posted("conference/members", **body) == first
    assert len(first["members"]) == 4
    assert first["members"][3]["party"] == "+4733333333"
    again = {**ADA, "conferenceSessionId": "x"}
    assert await conversation.refused("conference/members", **again) == (404, "no_such_session")


@pytest.mark.parametrize("named", ["targetAgentId", "targetChannelId"])
async def test_a_member_is_put_out(scene: RpcScene, named: str) -> None:
    """Agent or channel select the member; the others continue; a repeat changes nothing."""
    conversation, view = await conferring(scene)
    ada = view["members"][2]["channelId"]
    named_by = {"targetAgentId": "1002", "targetChannelId": ada}
    body = {"conferenceSessionId": view["conferenceSessionId"], "requesterAgentId": AGENT}
    body[named] = named_by[named]
    done = await conversation.posted("conference/kick", **body)
    assert (states(done)[2], done["members"][2]["reason"]) == ("complete", "kicked")
    assert (done["state"], states(done)[:2]) == ("in-progress", ["connected", "connected"])
    await conversation.does(f"DELETE channels/{ada}")
    assert await conversation.posted("conference/kick", **body) == done
    assert (await scene.problem("GET", "/agents/acme/1002/conference"))[0] == 404


async def test_a_member_leaves(scene: RpcScene) -> None:
    """The reason says that the member left by itself; a repeat changes nothing."""
    conversation, view = await conferring(scene)
    ada = view["members"][2]["channelId"]
    session = view["conferenceSessionId"]
    body = {"conferenceSessionId": session, "agentId": "1002", "channelId": ada}
    done = await conversation.posted("conference/leave", **body)
    assert done["members"][2]["reason"] == "left"
    assert await conversation.posted("conference/leave", **body) == done


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"agentId": "1003"}, "other_agent"), ({"pbxIp": "192.0.2.1"}, "other_node")],
)
async def test_a_leave_names_its_own_leg(scene: RpcScene, wrong: dict[str, str], code: str) -> None:
    """An agent does not leave in another's place; the node, if given, is the call's."""
    conversation, view = await conferring(scene)
    session, ada = view["conferenceSessionId"], view["members"][2]["channelId"]
    body = {"conferenceSessionId": session, "agentId": "1002", "channelId": ada}
    other = {**body, "agentId": "1003"}
    assert await conversation.refused("conference/leave", **other) == (400, "other_agent")
    assert await conversation.shown("/conference/members") == view


async def test_a_member_coaches(scene: RpcScene) -> None:
    """The view has the one member that hears the coach; without a channel the coaching ends."""
    conversation, view = await conferring(scene)
    ada = view["members"][2]["channelId"]
    body = {"conferenceSessionId": view["conferenceSessionId"], "channelId": ada}
    for _ in range(2):
        coached = await conversation.posted(
            "conference/coach", **body, coachedChannelId=conversation.agent
        )
        assert coached["members"][2]["coaches"] == conversation.agent
    await conversation.does(f"POST channels/{conversation.agent}/snoop/")
    for _ in range(2):
        freed = await conversation.posted("conference/coach", **body)
        assert "coaches" not in freed["members"][2]


async def test_members_show_who_is_muted_and_held(scene: RpcScene) -> None:
    """Mute and hold of a member's leg show on the member."""
    conversation, _ = await conferring(scene)
    await conversation.posted("mute", channelId=conversation.agent, direction="in")
    await conversation.posted("hold", channelId=conversation.customer)
    customer, agent, _ = (await conversation.shown("/conference/members"))["members"]
    assert (agent["muted"], customer["held"]) == ("in", True)


async def test_what_is_no_members_is_not_found(scene: RpcScene) -> None:
    """Unknown sessions, channels and agents of a conference get 404, each with its code."""
    conversation, view = await conferring(scene)
    kick = {"conferenceSessionId": view["conferenceSessionId"], "requesterAgentId": AGENT}
    leave = {"conferenceSessionId": kick["conferenceSessionId"], "agentId": AGENT}
    lost = {"conferenceSessionId": "x"}
    for path, body, code in (
        ("kick", {**kick, "targetAgentId": "1009"}, "no_such_member"),
        ("kick", {**kick, "targetChannelId": "x"}, "no_such_member"),
        ("kick", {**kick, "targetAgentId": AGENT, "targetChannelId": "x"}, "no_such_member"),
        ("kick", {**kick, **lost, "targetAgentId": AGENT}, "no_such_session"),
        ("leave", {**leave, "channelId": "x"}, "no_such_member"),
        ("leave", {**leave, **lost, "channelId": conversation.agent}, "no_such_session"),
        ("coach", {"channelId": "x", **lost}, "no_such_session"),
        ("coach", {**kick_session(kick), "channelId": "x"}, "no_such_member"),
        ("members", {**ADA, "sourceChannelId": "x"}, "no_such_leg"),
        ("members", {**ADA, "customerChannelId": "x"}, "no_such_leg"),
    ):
        assert await conversation.refused(f"conference/{path}", **body) == (404, code), (path, body)


def kick_session(kick: dict[str, Any]) -> dict[str, Any]:
    """Return only the session of a kick."""
    return {"conferenceSessionId": kick["conferenceSessionId"]}


async def test_without_a_conference(scene: RpcScene) -> None:
    """A call or an agent without a conference gets 404."""
    conversation = await talking(scene)
    missing = (404, "no_such_session")
    assert await scene.problem("GET", f"/calls/{conversation.call}/conference/members") == missing
    assert await scene.problem("GET", f"/agents/acme/{AGENT}/conference") == missing


async def test_an_ended_conference_can_be_looked_at(scene: RpcScene) -> None:
    """The last conference stays readable after the call; its agents are in none."""
    conversation, _ = await conferring(scene)
    await conversation.ends()
    assert (await conversation.shown("/conference/members"))["state"] == "completed"
    assert (await scene.problem("GET", f"/agents/acme/{AGENT}/conference"))[0] == 404


async def test_a_conference_is_its_accounts(scene: RpcScene) -> None:
    """The conference of an agent is not found in another account."""
    await conferring(scene)
    refused = await scene.problem("GET", f"/agents/other/{AGENT}/conference")
    assert refused == (404, "no_such_session")
