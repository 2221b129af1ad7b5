"""Streams of live calls over REST; `tests/live/streams` has real bots."""

import pytest

from tests.harness.api.rest import Rest
from tests.harness.rpc.conversation import Conversation, talking

LISTENER = {"url": "wss://bot.example.com/listen", "track": "caller"}


@pytest.fixture
async def talk(rest: Rest) -> Conversation:
    """Connect a customer and agent 1001."""
    return await talking(rest.scene)


async def test_a_bot_listens_until_it_is_stopped(rest: Rest, talk: Conversation) -> None:
    """It is listed, gets a text, and is gone after the stop."""
    path = f"/srmain/voice/streams/{talk.call}"
    started = await rest.post(f"{path}/start", **LISTENER)
    (stream,) = started["streams"]
    assert (stream["fork"], stream["track"]) == (True, "caller")
    assert (await rest.request("GET", path)).json() == started
    own = f"{path}/{stream['streamId']}"
    assert await rest.post(f"{own}/text", text="number 4711") == started
    assert (await rest.post(f"{own}/stop"))["streams"] == []
    assert (await rest.rejected("POST", f"{own}/stop", {}))[:2] == (404, "no_such_stream")


@pytest.mark.parametrize("url", ["ws://bot.example.com/", "https://bot.example.com/", ""])
async def test_an_address_without_tls(rest: Rest, talk: Conversation, url: str) -> None:
    """The field is named."""
    path = f"/srmain/voice/streams/{talk.call}/start"
    assert (await rest.rejected("POST", path, {"url": url}))[2] == ["url"]


async def test_another_account_sees_nothing(rest: Rest, talk: Conversation) -> None:
    """Its calls look like ones that never existed; an agent's token may not."""
    token = await rest.token_of("other", "other")
    agents = await rest.token_of("1001")
    path = f"/srmain/voice/streams/{talk.call}"
    for method, url, body in (
        ("GET", path, None),
        ("POST", f"{path}/start", LISTENER),
        ("POST", f"{path}/{talk.call}.w1/stop", {}),
        ("POST", f"{path}/{talk.call}.w1/text", {"text": "x"}),
    ):
        problems = [
            (await rest.request(method, each, body, token=token)).json()
            for each in (url, url.replace(talk.call, "0-pbx1-gone"))
        ]
        details = [each["detail"].replace("0-pbx1-gone", talk.call) for each in problems]
        assert ({each["status"] for each in problems}, details[0]) == ({404}, details[1])
        assert (await rest.rejected(method, url, body, token=agents))[:2] == (403, "scope")
