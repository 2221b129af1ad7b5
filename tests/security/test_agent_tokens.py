"""An agent's token acts only as that agent: own calls, own records, own conference."""

import pytest

from tests.harness.api.agent_requests import BASE, OTHER, requests_in
from tests.harness.api.cdrs.lists import NINA, REQUIRED
from tests.harness.api.cdrs.records import CUSTOMER, leg, record, write_calls
from tests.harness.api.rest import OURS, Rest
from tests.harness.api.serving import Served
from tests.harness.rpc.conversation import AGENT, Conversation, talking

CARL = leg("agent:9", agent_id="9", agent_name="Carl")


@pytest.fixture
async def stranger(rest: Rest) -> str:
    """Return a token of agent 1002, who is in no call."""
    return await rest.token_of("acme", agentId=OTHER)


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


async def test_another_agents_call_is_not_found(
    rest: Rest, talk: Conversation, stranger: str
) -> None:
    """Each request about it, in the body's and in the path's form; the call goes on unchanged."""
    for path, body in requests_in(talk, OTHER).items():
        rejected = await rest.rejected("POST", f"{BASE}/{path}", body, token=stranger)
        assert rejected[:2] == (404, "not_found"), path
    for path in ("hangup", "mute", "recording/pause", "recording/resume"):
        body = {"channelId": talk.customer} if path == "mute" else {}
        full = f"{BASE}/call/{talk.call}/{path}"
        assert (await rest.rejected("POST", full, body, token=stranger))[0] == 404
    assert (await rest.rejected("GET", f"{BASE}/call-details/{talk.call}", token=stranger))[
        0
    ] == 404
    assert not any(each.get("muted") for each in (await talk.shown())["legs"])


async def test_nobody_acts_in_another_agents_name(rest: Rest, talk: Conversation) -> None:
    """The ids of agents in a body must be the token's."""
    token = await rest.token_of("acme", agentId=AGENT)
    for path, own in requests_in(talk, AGENT).items():
        for name in (each for each in own if own[each] == AGENT):
            body = {**own, name: OTHER}
            rejected = await rest.rejected("POST", f"{BASE}/{path}", body, token=token)
            assert rejected[:2] == (403, "agent"), (path, name)
    hangup = {"callId": talk.call, "agentId": OTHER}
    assert (await rest.rejected("POST", f"{BASE}/hangup", hangup, token=token))[1] == "agent"


async def test_the_own_call_is_controlled(rest: Rest, talk: Conversation) -> None:
    """An agent holds its customer, and sees the call also after it has left."""
    token = await rest.token_of("acme", agentId=AGENT)
    body = {"callId": talk.call, "channelId": talk.customer}
    assert (await rest.request("POST", f"{BASE}/hold", body, token=token)).status_code == 200
    leave = {"callId": talk.call}
    assert (await rest.request("POST", f"{BASE}/hangup", leave, token=token)).status_code == 200
    await talk.ends()
    shown = await rest.request("GET", f"{BASE}/call-details/{talk.call}", token=token)
    assert shown.json()["agents"] == [AGENT]


async def test_an_agent_calls_from_its_own_phone_only(rest: Rest) -> None:
    """Without a tree, a flow or a target of events, which may call anybody; not recorded."""
    token = await rest.token_of("acme", agentId=AGENT)
    own = {"from": f"agent:{AGENT}", "to": CUSTOMER}
    play = {"type": "play", "data": {"audioUrl": "https://media.example/a.wav"}}
    for body, code in (
        ({**own, "from": f"agent:{OTHER}"}, "agent"),
        ({**own, "from": OURS}, "agent"),
        ({**own, "action": play}, "scope"),
        ({**own, "fallback": play}, "scope"),
        ({**own, "flowId": "menu"}, "scope"),
        ({**own, "statusCallbackUrl": "grpc://events.example"}, "scope"),
        ({**own, "recordCall": True}, "scope"),
        ({**own, "recordCall": {"enable": True}}, "scope"),
    ):
        rejected = await rest.rejected("POST", f"{BASE}/call", body, token=token)
        assert rejected[:2] == (403, code), body
    unrecorded = {**own, "recordCall": False}
    answer = await rest.request("POST", f"{BASE}/call", unrecorded, token=token)
    assert answer.status_code == 201


async def test_an_agent_reads_its_own_records_only(served: Served) -> None:
    """Lists, exports, single records and dispositions; whatever is named in the filters."""
    await served.add("acme", "7", name="nina")
    own, other = record(1, legs=(NINA,)), record(2, legs=(CARL,))
    both = record(3, legs=(NINA, CARL))
    await write_calls(served.services.database, own, other, both)
    ids = {own.call_id, both.call_id}
    for query in ({}, {"agentName": "Nina,Carl"}, {"answerStatus": "answered"}):
        status, page = await served.request("GET", "/srmain/cdr", "nina", **REQUIRED, **query)
        assert (status, {each["reqId"] for each in page["data"]}) == (200, ids), query
        assert page["total"] == 2
    _, history = await served.request(
        "GET", "/srmain/cdr/customer-history", "nina", number=CUSTOMER, limit=10, offset=0
    )
    assert {each["reqId"] for each in history["data"]} == ids
    one = f"/srmain/cdr/{other.call_id}"
    assert (await served.request("GET", one, "nina"))[0] == 404
    levels = {"dispositionLevel1Id": "x"}
    assert (await served.request("PATCH", f"{one}/disposition", "nina", levels))[0] == 404
    assert (await served.request("GET", f"/srmain/cdr/{own.call_id}", "nina"))[0] == 200


async def test_an_agent_reads_its_own_exports_only(served: Served) -> None:
    """An export of the account, or of another agent, is not found."""
    await served.add("acme", "7", name="nina")
    await served.add("acme", "9", name="carl")
    for who, readers in (("acme", {"acme"}), ("nina", {"acme", "nina"})):
        _, export = await served.request(
            "POST", "/srmain/cdr/export", who, {"format": "csv"}, **REQUIRED
        )
        for reader in ("acme", "nina", "carl"):
            path = f"/srmain/cdr/exports/{export['exportId']}"
            status, _ = await served.request("GET", path, reader)
            assert status == (200 if reader in readers else 404), (who, reader)
            status, _ = await served.request("GET", f"{path}/download", reader)
            assert status == (409 if reader in readers else 404), (who, reader)
