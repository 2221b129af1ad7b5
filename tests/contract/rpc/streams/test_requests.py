"""Streams of live calls over the RPC: listed, started as forks, stopped, and sent texts."""

import pytest

from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream, StreamCommand
from tests.harness.rpc.conversation import Conversation, talking
from tests.harness.rpc.scene import RpcScene
from wire.streams.setup import TextMessage

LISTENER = {"url": "wss://bot.example.com/listen?key=secret", "track": "caller"}


def _commands(scene: RpcScene) -> list[StreamCommand]:
    return [command for command, _done in scene.streams.running]


@pytest.fixture
async def talk(scene: RpcScene) -> Conversation:
    """Connect a customer and an agent."""
    return await talking(scene)


async def test_a_bot_listens(scene: RpcScene, talk: Conversation) -> None:
    """It is listed without the query of its address; the same request starts no other."""
    started = await talk.posted("streams", **LISTENER)
    (stream,) = started["streams"]
    assert stream["streamId"].startswith(f"{talk.call}.w")
    assert stream["url"] == "wss://bot.example.com/listen"
    assert (stream["state"], stream["fork"], stream["track"]) == ("starting", True, "caller")
    assert await talk.posted("streams", **LISTENER) == started
    assert await talk.shown("/streams") == started
    (command,) = [each for each in _commands(scene) if isinstance(each, StartStream)]
    assert command.data.url == LISTENER["url"]
    assert command.data.fork


async def test_a_stream_gets_a_text_and_is_stopped(scene: RpcScene, talk: Conversation) -> None:
    """Afterwards it is not known any more."""
    (stream,) = (await talk.posted("streams", **LISTENER))["streams"]
    path = f"streams/{stream['streamId']}"
    await talk.posted(f"{path}/text", text="number 4711")
    sent = [each for each in _commands(scene) if isinstance(each, SendToStream)]
    assert [each.message for each in sent] == [TextMessage("number 4711")]
    assert (await talk.posted(f"{path}/stop"))["streams"] == []
    assert any(isinstance(each, StopStream) for each in _commands(scene))
    for action in ("stop", "text"):
        body = {"text": "late"} if action == "text" else {}
        assert await talk.refused(f"{path}/{action}", **body) == (404, "no_such_stream")


async def test_a_call_has_few_forks(talk: Conversation) -> None:
    """One too many is rejected, and a repetition of one that runs is not."""
    for number in range(4):
        await talk.posted("streams", url=f"wss://bot.example.com/{number}")
    assert await talk.refused("streams", url="wss://bot.example.com/5") == (409, "too_many_forks")
    assert len((await talk.posted("streams", url="wss://bot.example.com/3"))["streams"]) == 4


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": "https://bot.example.com/"}, "url"),
        ({"url": "ws://bot.example.com/"}, "url"),
        ({"url": "wss://bot.example.com/", "rate": 16_000}, "rate"),
        ({"url": "wss://bot.example.com/", "track": "all"}, "track"),
        ({"url": "wss://bot.example.com/", "bargeIn": "pause"}, "bargeIn"),
        ({"url": "wss://bot.example.com/", "name": "x"}, "name"),
    ],
)
async def test_wrong_settings(
    scene: RpcScene, talk: Conversation, body: dict[str, object], field: str
) -> None:
    """The field is named."""
    status, problem = await scene.request("POST", f"/calls/{talk.call}/streams", body)
    assert status == 400
    assert [each["path"] for each in problem["errors"]] == [field]


async def test_another_accounts_call(scene: RpcScene, talk: Conversation) -> None:
    """It looks like one that never existed."""
    path = f"/calls/{talk.call}/streams"
    refused = (404, "not_found")
    assert await scene.problem("POST", path, {**LISTENER, "account": "other"}) == refused
    assert await scene.problem("GET", f"{path}?account=other") == refused
    stop = f"{path}/{talk.call}.w1/stop"
    assert await scene.problem("POST", stop, {"account": "other"}) == refused
