"""Live calls controlled over REST: both path forms, views, required fields."""

import json
from typing import Any

import pytest

from api.voice import examples
from tests.harness.api.rest import OURS, Rest
from tests.harness.rpc.conversation import Conversation, talking

BASE = "/srmain/voice"


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


def leg(view: Any, channel: str) -> Any:
    """Return one leg of a call's view."""
    return next(each for each in view["legs"] if each["channelId"] == channel)


@pytest.mark.parametrize("form", ["main", f"{BASE}/call", "/voice/call"])
async def test_legs_are_controlled(rest: Rest, talk: Conversation, form: str) -> None:
    """Mute, unmute, hold and unhold work by body and by path, and are idempotent."""

    async def control(action: str) -> Any:
        if form == "main":
            body = {"callId": talk.call, "channelId": talk.agent}
            return leg(await rest.post(f"{BASE}/{action}", **body), talk.agent)
        return leg(
            await rest.post(f"{form}/{talk.call}/{action}", channelId=talk.agent), talk.agent
        )

    for _ in range(2):
        assert (await control("mute"))["muted"] == "in"
    for _ in range(2):
        assert "muted" not in await control("unmute")
    assert (await control("hold"))["held"]
    assert "held" not in await control("unhold")


async def test_a_leg_is_muted_in_a_direction(rest: Rest, talk: Conversation) -> None:
    """By body and by path; an unknown direction is named."""
    on_leg = {"callId": talk.call, "channelId": talk.agent}
    muted = await rest.post(f"{BASE}/mute", **on_leg, direction="out")
    assert leg(muted, talk.agent)["muted"] == "out"
    path = f"/voice/call/{talk.call}/mute"
    muted = await rest.post(path, channelId=talk.customer, direction="both")
    assert leg(muted, talk.customer)["muted"] == "both"
    problem = await rest.rejected("POST", f"{BASE}/mute", {**on_leg, "direction": "up"})
    assert (problem[0], problem[2]) == (400, ["direction"])


async def test_a_dialled_party_sees_a_number_of_the_account(rest: Rest, talk: Conversation) -> None:
    """Another caller id is rejected; the engine gets the chosen one, and the time to ring."""
    body = {"callId": talk.call, "target": "+4733333333", "timeout": 7}
    problem = await rest.rejected("POST", f"{BASE}/dial", {**body, "callerId": "+4799999999"})
    assert problem == (400, "not_your_number", ["callerId"])
    await rest.post(f"{BASE}/dial", **body, callerId=OURS.removeprefix("+"))
    details = [each["details"] for each in (await talk.shown("/timeline"))["rows"]]
    (dialled,) = [each for each in details if each["type"] == "dial-requested"]
    assert (dialled["callerId"], dialled["ringS"]) == (OURS, 7)


@pytest.mark.parametrize("base", [BASE, "/voice"])
async def test_a_call_is_hung_up_by_its_path(rest: Rest, talk: Conversation, base: str) -> None:
    """A token without an agent ends the whole call; an empty body is enough."""
    answer = await rest.request("POST", f"{base}/call/{talk.call}/hangup", {})
    assert (answer.status_code, answer.json()["state"]) == (200, "ending")


async def test_an_agents_token_ends_the_agents_leg(rest: Rest, talk: Conversation) -> None:
    """The request need not name the leg."""
    agents = await rest.token_of("1001")
    answer = await rest.request("POST", f"{BASE}/hangup", {"callId": talk.call}, token=agents)
    assert answer.status_code == 200, answer.text
    await talk.does(f"DELETE channels/{talk.agent}")
    ended = [line for line in _sent(talk) if line.startswith("DELETE channels/")]
    assert ended[0].startswith(f"DELETE channels/{talk.agent}")


async def test_a_leg_is_hung_up_by_name(rest: Rest, talk: Conversation) -> None:
    """The request names an agent or a channel; an unknown one gets 404."""
    problem = await rest.rejected(
        "POST", f"{BASE}/hangup", {"callId": talk.call, "agentId": "1009"}
    )
    assert problem[:2] == (404, "no_such_leg")
    await rest.post(f"{BASE}/hangup", callId=talk.call, channelId=talk.customer)
    await talk.does(f"DELETE channels/{talk.customer}")


async def test_a_party_is_dialled_into_a_call(rest: Rest, talk: Conversation) -> None:
    """The response has the channel; a repeated request while it rings has the same."""
    dialled = await rest.post(f"{BASE}/dial", callId=talk.call, target="+4733333333")
    assert dialled["callId"] == talk.call
    assert await rest.post(f"{BASE}/dial", callId=talk.call, target="+4733333333") == dialled
    answer = await rest.rejected("POST", f"{BASE}/dial", {"callId": talk.call, "target": "nobody!"})
    assert (answer[0], answer[2]) == (400, ["target"])


async def test_a_call_is_shown(rest: Rest, talk: Conversation) -> None:
    """A live call is shown by GET or POST, with body or query; an ended one by its details."""
    active = f"{BASE}/active-call-details"
    shown = [
        await rest.request("GET", active, {"callId": talk.call}),
        await rest.request("GET", f"{active}?callId={talk.call}"),
        await rest.request("POST", active, {"callId": talk.call}),
        await rest.request("GET", f"{BASE}/call-details/{talk.call}"),
    ]
    assert {each.status_code for each in shown} == {200}
    assert {each.json()["callId"] for each in shown} == {talk.call}
    assert {len(each.json()["legs"]) for each in shown} == {2}
    await talk.ends()
    assert (await rest.rejected("GET", active, {"callId": talk.call}))[:2] == (404, "call_ended")
    ended = await rest.request("GET", f"{BASE}/call-details/{talk.call}")
    assert ended.json()["endedMs"]
    mute = {"callId": talk.call, "channelId": talk.agent}
    assert (await rest.rejected("POST", f"{BASE}/mute", mute))[:2] == (409, "call_ended")


REQUIRED = {
    "mute": "callId channelId",
    "unmute": "callId channelId",
    "hold": "callId channelId",
    "unhold": "callId channelId",
    "dial": "callId target",
    "hangup": "callId",
    "active-call-details": "callId",
    "transfer/init": "callId transferMode sourceAgentId customerChannelId sourceChannelId target",
    "transfer/complete": "callId transferSessionId completedByAgentId reason",
    "transfer/cancel": "callId transferSessionId cancelledByAgentId reason",
    "transfer/status": "callId transferSessionId",
    "conference/add-members": (
        "callId requestedByAgentId customerChannelId sourceChannelId sourceAgentId"
    ),
    "conference/kick": "callId conferenceSessionId requesterAgentId",
    "conference/leave": "callId conferenceSessionId agentId channelId",
    "conference/coach": "callId conferenceSessionId channelId",
    "conference/members": "callId",
}


@pytest.mark.parametrize("path", REQUIRED)
async def test_required_fields(rest: Rest, path: str) -> None:
    """A body without a required field gets a 400 that names it."""
    fields = REQUIRED[path].split()
    whole = {
        name: {"kind": "agent", "agentId": "1"} if name == "target" else "x" for name in fields
    }
    whole |= {"transferMode": "blind"} if "transferMode" in fields else {}
    whole |= {"reason": "manual_complete"} if path.endswith("complete") else {}
    whole |= {"reason": "source_cancel"} if path.endswith("cancel") else {}
    whole |= {"target": "+4733333333"} if path == "dial" else {}
    assert (await rest.rejected("POST", f"{BASE}/{path}", whole))[0] in {400, 404}
    for missing in fields:
        body = {name: value for name, value in whole.items() if name != missing}
        status, _code, paths = await rest.rejected("POST", f"{BASE}/{path}", body)
        assert (status, paths) == (400, [missing])


CONTROLS = {
    **dict.fromkeys(("mute", "unmute", "hold", "unhold"), examples.ON_LEG),
    "dial": {"callId": examples.CALL, "target": "+4733333333"},
    "hangup": {"callId": examples.CALL},
    "active-call-details": {"callId": examples.CALL},
    "transfer/init": {"callId": examples.CALL, **examples.TRANSFER_BODY},
    "transfer/complete": examples.COMPLETE,
    "transfer/cancel": examples.CANCEL,
    "transfer/status": examples.TRANSFER,
    "conference/add-members": examples.ADD,
    "conference/kick": examples.KICK,
    "conference/leave": examples.LEAVE,
    "conference/coach": examples.COACH,
    "conference/members": {"callId": examples.CALL},
}


@pytest.mark.parametrize("path", CONTROLS)
async def test_another_accounts_call_looks_like_none(
    rest: Rest, talk: Conversation, path: str
) -> None:
    """Whatever is requested, the response is that of a call that never existed."""
    theirs, before = await rest.token_of("other", "other"), _sent(talk)
    problems = []
    for call, token in ((talk.call, theirs), ("0-pbx1-gone", rest.token)):
        body = json.loads(json.dumps(CONTROLS[path]).replace(examples.CALL, call))
        answer = await rest.request("POST", f"{BASE}/{path}", body, token=token)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        problems.append(answer.json()["detail"].replace(call, "it"))
    assert problems[0] == problems[1]
    assert _sent(talk) == before


async def test_without_a_store_calls_get_503(rest: Rest, talk: Conversation) -> None:
    """The response has Retry-After while the engine's store is down."""
    rest.scene.store.down = True
    request_body = {"from": OURS, "to": "+4722222222"}
    answer = await rest.request("POST", f"{BASE}/call", request_body)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    rest.scene.store.down = False


def _sent(talk: Conversation) -> list[str]:
    talk.scene.pbx.settle()
    return talk.scene.pbx.lines


@pytest.mark.parametrize("action", ["mute", "hangup"])
async def test_a_body_may_repeat_the_call_of_its_path(
    rest: Rest, talk: Conversation, action: str
) -> None:
    """The same call id is accepted; another one is an error."""
    path, leg = f"/voice/call/{talk.call}/{action}", {"channelId": talk.agent}
    problem = await rest.rejected("POST", path, {**leg, "callId": "other"})
    assert problem == (400, "invalid", ["callId"])
    assert (await rest.request("POST", path, {**leg, "callId": talk.call})).status_code == 200


async def test_views_do_not_show_where_a_call_is(rest: Rest, talk: Conversation) -> None:
    """Node and slot are the operator's, who sees them over RPC; all else is shown."""
    internal = {"node", "slot"}
    operators = await talk.shown()
    assert internal < operators.keys()
    on_leg = {"callId": talk.call, "channelId": talk.agent}
    views = [
        (await rest.request("GET", f"{BASE}/call-details/{talk.call}")).json(),
        await rest.post(f"{BASE}/active-call-details", callId=talk.call),
        await rest.post(f"{BASE}/mute", **on_leg),
        await rest.post(f"{BASE}/hangup", **on_leg),
    ]
    assert [each.keys() & internal for each in views] == [set()] * 4
    assert views[0] == {name: value for name, value in operators.items() if name not in internal}
    document = (await rest.client.get("/openapi.json")).json()
    shown = document["components"]["schemas"]["CallDetails"]
    assert operators.keys() - internal <= shown["properties"].keys()
    assert not internal & shown["properties"].keys()
