"""The list of live calls over REST: filters, pages, and what each token sees."""

from typing import Any

import pytest

from tests.harness.api.rest import CUSTOMER, OURS, Rest
from tests.harness.rpc.conversation import AGENT, Conversation, talking

LIST = "/srmain/voice/calls"
GATHER = {"type": "gather", "data": {"timeout": 60_000}}


async def page(rest: Rest, token: str | None = None, **query: Any) -> Any:
    """Return a page of live calls."""
    more = {"token": token} if token else {}
    answer = await rest.request("GET", LIST, params=query, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def call_ids(rest: Rest, token: str | None = None, **query: Any) -> list[str]:
    """Return the ids of the calls of a page."""
    return [each["callId"] for each in (await page(rest, token, **query))["data"]]


async def start(rest: Rest, to: str = CUSTOMER) -> str:
    """Start an outbound call."""
    body = {"from": OURS, "to": to, "action": GATHER}
    return str((await rest.post("/srmain/voice/call", **body))["callId"])


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


async def test_live_calls_are_listed(rest: Rest, talk: Conversation) -> None:
    """Newest first, without where they run; an ended call is not in the list."""
    started = await start(rest)
    found = await page(rest)
    assert [each["callId"] for each in found["data"]] == [started, talk.call]
    assert (found["total"], found["limit"], found["offset"]) == (2, 100, 0)
    assert not {"node", "slot"} & found["data"][0].keys()
    await talk.ends()
    assert await call_ids(rest) == [started]


async def test_ended_calls_are_listed(rest: Rest, talk: Conversation) -> None:
    """Only those of the account, and only to a token that may see all of its calls."""
    path = f"{LIST}/ended"
    await talk.ends()
    assert (await rest.request("GET", path)).json() == {"callIds": [talk.call]}
    other = await rest.token_of("other", "other")
    assert (await rest.request("GET", path, token=other)).json() == {"callIds": []}
    rejected = await rest.rejected("GET", path, token=await rest.token_of(AGENT))
    assert rejected[:2] == (403, "scope")


async def test_live_calls_are_filtered(rest: Rest, talk: Conversation) -> None:
    """By direction, state, number and agent; a call must match all filters."""
    started = await start(rest, "+4744444444")
    assert set(await call_ids(rest, direction="outbound")) == {started, talk.call}
    assert await call_ids(rest, direction="inbound") == []
    for number in ("+4744444444", "0047 (0)44 44 44 44", "tel:+47-44444444"):
        assert await call_ids(rest, number=number) == [started]
    assert started in await call_ids(rest, number=OURS)
    assert await call_ids(rest, number="+4744444445") == []
    assert await call_ids(rest, state="bridged") == [talk.call]
    assert await call_ids(rest, agentId=AGENT) == [talk.call]
    assert await call_ids(rest, agentId=AGENT, number="+4744444444") == []


async def test_live_calls_have_pages(rest: Rest) -> None:
    """The total counts all pages."""
    ids = [await start(rest) for _ in range(3)]
    pages = [await page(rest, limit=2, offset=offset) for offset in (0, 2, 4)]
    assert [len(each["data"]) for each in pages] == [2, 1, 0]
    assert [each["total"] for each in pages] == [3, 3, 3]
    found = [call["callId"] for each in pages for call in each["data"]]
    assert (sorted(found), found) == (sorted(ids), await call_ids(rest))


async def test_tokens_see_only_their_own_live_calls(rest: Rest, talk: Conversation) -> None:
    """Another account sees none, and an agent's token the calls of that agent."""
    started = await start(rest)
    assert await call_ids(rest, await rest.token_of("other", "other")) == []
    assert await call_ids(rest, await rest.token_of(AGENT)) == [talk.call]
    assert await call_ids(rest, await rest.token_of("acme", agentId="1009")) == []
    assert set(await call_ids(rest)) == {started, talk.call}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"offset": -1}, "offset"),
        ({"direction": "sideways"}, "direction"),
        ({"accountId": "other"}, "accountId"),
    ],
)
async def test_bad_filters_are_rejected(rest: Rest, query: dict[str, Any], field: str) -> None:
    """The error names the parameter."""
    assert await rest.rejected("GET", LIST, params=query) == (400, "invalid", [field])
