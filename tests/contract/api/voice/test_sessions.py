"""Transfers and conferences over REST, in both path forms."""

from typing import Any

import pytest

from tests.harness.api.rest import Rest
from tests.harness.rpc.conversation import AGENT, Conversation, talking

BASE = "/srmain/voice"


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


def transfer_body(talk: Conversation, **more: Any) -> dict[str, Any]:
    """Return the body that starts a transfer."""
    return {
        "transferMode": "attended",
        "sourceAgentId": AGENT,
        "customerChannelId": talk.customer,
        "sourceChannelId": talk.agent,
        "target": {"kind": "agent", "agentId": "1002", "agentName": "Ada"},
        **more,
    }


def member_body(talk: Conversation, **more: Any) -> dict[str, Any]:
    """Return the body that adds a member."""
    return {
        "callId": talk.call,
        "requestedByAgentId": AGENT,
        "customerChannelId": talk.customer,
        "sourceChannelId": talk.agent,
        "sourceAgentId": AGENT,
        **more,
    }


async def test_a_transfer(rest: Rest, talk: Conversation) -> None:
    """It is started, shown and completed; a repeated start returns the same transfer."""
    body = {"callId": talk.call, **transfer_body(talk)}
    started = await rest.post(f"{BASE}/transfer/init", **body)
    assert (started["state"], started["targetName"]) == ("starting", "Ada")
    session = {"callId": talk.call, "transferSessionId": started["transferSessionId"]}
    assert await rest.post(f"{BASE}/transfer/init", **body) == started
    assert await rest.post(f"{BASE}/transfer/status", **session) == started
    done = {**session, "completedByAgentId": AGENT, "reason": "manual_complete"}
    assert (await rest.post(f"{BASE}/transfer/complete", **done))["endedBy"] == AGENT


async def test_a_session_rings_for_a_chosen_time(rest: Rest, talk: Conversation) -> None:
    """A transfer's target and a conference's member; a day is too long."""
    init = {"callId": talk.call, **transfer_body(talk, timeout=12)}
    problem = await rest.rejected("POST", f"{BASE}/transfer/init", {**init, "timeout": 86_400})
    assert (problem[0], problem[2]) == (400, ["timeout"])
    started = await rest.post(f"{BASE}/transfer/init", **init)
    session = {"callId": talk.call, "transferSessionId": started["transferSessionId"]}
    reason = {"cancelledByAgentId": AGENT, "reason": "source_cancel"}
    await rest.post(f"{BASE}/transfer/cancel", **session, **reason)
    body = member_body(talk, targetAgentIds=["1003"], timeout=13)
    await rest.post(f"{BASE}/conference/add-members", **body)
    details = [each["details"] for each in (await talk.shown("/timeline"))["rows"]]
    assert [each["ringS"] for each in details if "ringS" in each] == [12, 13]


@pytest.mark.parametrize("base", [BASE, "/voice"])
async def test_a_transfer_by_path_is_canceled(rest: Rest, talk: Conversation, base: str) -> None:
    """It is started by path, whose call the body may repeat, and canceled by body."""
    path = f"{base}/call/{talk.call}/transfer/init"
    problem = await rest.rejected("POST", path, transfer_body(talk, callId="other"))
    assert problem == (400, "invalid", ["callId"])
    started = await rest.post(path, **transfer_body(talk, callId=talk.call))
    body = {
        "callId": talk.call,
        "transferSessionId": started["transferSessionId"],
        "cancelledByAgentId": AGENT,
        "reason": "source_cancel",
    }
    assert (await rest.post(f"{BASE}/transfer/cancel", **body))["state"] == "canceled"


async def test_a_conference(rest: Rest, talk: Conversation) -> None:
    """Members are added, listed, shown to an agent, removed, and leave."""
    added = await rest.post(
        f"{BASE}/conference/add-members",
        **member_body(talk, targetAgentIds=["1002"], targetAgentNames={"1002": "Ada"}),
    )
    talk.answers(added["members"][2]["channelId"])
    session = {"callId": talk.call, "conferenceSessionId": added["conferenceSessionId"]}
    shown = await rest.post(f"{BASE}/conference/members", callId=talk.call)
    assert [each["state"] for each in shown["members"]] == ["connected"] * 3
    mine = await rest.request("GET", f"{BASE}/conference/my", token=await rest.token_of("1001"))
    assert mine.json() == shown
    left = await rest.post(
        f"{BASE}/conference/leave",
        **session,
        agentId="1002",
        channelId=added["members"][2]["channelId"],
        pbxIp="10.0.0.1",
    )
    assert left["members"][2]["reason"] == "left"
    outside = member_body(talk, targetExternalNumber="+4733333333")
    number = (await rest.post(f"{BASE}/conference/add-members", **outside))["members"][3]
    kicked = await rest.post(
        f"{BASE}/conference/kick",
        **session,
        requesterAgentId=AGENT,
        targetChannelId=number["channelId"],
    )
    assert kicked["members"][3]["reason"] == "kicked"


async def test_a_member_is_coached(rest: Rest, talk: Conversation) -> None:
    """Only the coached member hears the coach; without a channel all do again.

    An agent's token coaches on its own leg only.
    """
    body = member_body(talk, targetAgentIds=["1002"])
    added = await rest.post(f"{BASE}/conference/add-members", **body)
    coach = added["members"][2]["channelId"]
    talk.answers(coach)
    session = {"callId": talk.call, "conferenceSessionId": added["conferenceSessionId"]}
    coaching = {**session, "channelId": coach, "coachedChannelId": talk.agent}
    shown = await rest.post(f"{BASE}/conference/coach", **coaching)
    assert shown["members"][2]["coaches"] == talk.agent
    supervisor = await rest.token_of("acme", agentId="1002")
    path = f"{BASE}/conference/coach"
    freed = await rest.request("POST", path, {**session, "channelId": coach}, token=supervisor)
    assert "coaches" not in freed.json()["members"][2]
    agents = await rest.token_of("1001")
    assert (await rest.rejected("POST", path, coaching, token=agents))[:2] == (403, "agent")
    theirs = await rest.token_of("other", "other")
    assert (await rest.rejected("POST", path, coaching, token=theirs))[0] == 404


async def test_my_conference_needs_an_agent(rest: Rest, talk: Conversation) -> None:
    """An account's token gets 400, an agent without a conference 404."""
    path = f"{BASE}/conference/my"
    assert (await rest.rejected("GET", path))[:2] == (400, "no_agent")
    assert (await rest.rejected("GET", path, token=await rest.token_of("1001")))[0] == 404
    theirs = await rest.token_of("other", "other", agentId=AGENT)
    await rest.post(f"{BASE}/conference/add-members", **member_body(talk, targetAgentIds=["1002"]))
    assert (await rest.rejected("GET", path, token=theirs))[0] == 404


@pytest.mark.parametrize(
    ("path", "change", "fault"),
    [
        ("transfer/init", {"transferMode": "warm"}, "transferMode"),
        ("transfer/init", {"target": {"kind": "robot"}}, "target.kind"),
        ("transfer/init", {"target": {"kind": "agent"}}, "target.agentId"),
        ("transfer/init", {"target": {"kind": "number"}}, "target.number"),
        ("transfer/init", {"target": {"kind": "number", "number": "+1"}}, "target.number"),
        ("transfer/init", {"mohAudioUrl": "http://example.com/x.mp3"}, "mohAudioUrl"),
        ("conference/add-members", {"targetAgentIds": []}, "targetAgentIds"),
        ("conference/add-members", {"targetAgentIds": ["1", "2"]}, "targetAgentIds"),
        ("conference/add-members", {}, "targetAgentIds"),
        ("conference/add-members", {"targetAgentNames": {"9": "x"}}, "targetAgentNames"),
        (
            "conference/add-members",
            {"targetAgentIds": ["1"], "targetExternalNumber": "+4733333333"},
            "targetExternalNumber",
        ),
    ],
)
async def test_errors_of_sessions_have_codes(
    rest: Rest, talk: Conversation, path: str, change: dict[str, Any], fault: str
) -> None:
    """Errors of the engine have the form of the REST layer's errors."""
    whole = {"callId": talk.call, **transfer_body(talk)}
    body = {**(whole if path.startswith("transfer") else member_body(talk)), **change}
    status, _code, paths = await rest.rejected("POST", f"{BASE}/{path}", body)
    assert (status, paths) == (400, [fault])


async def test_reasons_are_those_of_the_specification(rest: Rest) -> None:
    """Other reasons of complete and cancel are rejected."""
    ids = {"callId": "x", "transferSessionId": "x"}
    for path, agent in (("complete", "completedByAgentId"), ("cancel", "cancelledByAgentId")):
        body = {**ids, agent: "1001", "reason": "tired"}
        problem = await rest.rejected("POST", f"{BASE}/transfer/{path}", body)
        assert (problem[0], problem[2]) == (400, ["reason"])
