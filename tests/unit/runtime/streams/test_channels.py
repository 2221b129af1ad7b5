"""The channels of streams, and an owner that loses its lease meanwhile."""

import asyncio

import msgspec
import pytest

from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.stream_commands import StartStream
from engine.runtime.streams.channels import LeaseLost, StreamChannels, StreamSlot
from tests.harness.runtime.ari_messages import channel
from tests.harness.runtime.recording_pbx import LOST, RecordingPbx
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time
from wire.verbs import StreamData

STREAM = "0-pbx1-abcdefgh.w1"


class Lease:
    """A lease that the test ends."""

    def __init__(self) -> None:
        self.token = 1
        self.holds = True
        self.unseen_ms = 0


async def test_a_channel_is_not_created_for_another_owner() -> None:
    """It may have the stream's channel by then: Asterisk ends if an id is used twice."""
    pbx, lease = RecordingPbx(), Lease()
    command = StartStream(STREAM, StreamData("wss://bot.example/x"))
    creating = asyncio.create_task(
        StreamChannels(pbx).create(command, StreamSlot("switchroom-0", lease), lambda: True)
    )
    await until(lambda: len(pbx.sent) == 1, every_s=0.001)
    lease.holds = False
    pbx.reply(Reply(404))
    with pytest.raises(LeaseLost):
        await creating
    assert pbx.lines == [f"GET channels/{STREAM}/variable"]


class ReplyingPbx(RecordingPbx):
    """Replies to each request with the next of the given replies."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__()
        self._replies = list(replies)

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        super().send(request, key, may_block, done)
        assert (key, may_block) == ("0-pbx1-abcdefgh", False)
        asyncio.get_running_loop().call_soon(done, self._replies.pop(0))


VALUE = Reply(200, b'{"value":"0f3a"}')
CREATED = {**channel("x"), "channelvars": {"MEDIA_WEBSOCKET_CONNECTION_ID": "0f3a"}}
NONE = Reply(404)


@pytest.mark.parametrize(
    ("replies", "connection"),
    [
        ([VALUE], "0f3a"),
        ([NONE, Reply(200, msgspec.json.encode(CREATED))], "0f3a"),
        ([NONE, Reply(200, msgspec.json.encode(channel("x")))], None),
        ([NONE, Reply(500)], None),
        ([Reply(500)], None),
        ([LOST, LOST, LOST, VALUE], "0f3a"),
        ([LOST, LOST, LOST, LOST], None),
        ([NONE, LOST, VALUE], "0f3a"),
    ],
)
@virtual_time
async def test_the_channel_of_a_stream(replies: list[Reply], connection: str | None) -> None:
    """It is created if it does not exist; a lost reply is followed by another try, for a while."""
    pbx = ReplyingPbx(*replies)
    command = StartStream(STREAM, StreamData("wss://bot.example/x"))
    slot = StreamSlot("switchroom-0", Lease())
    assert await StreamChannels(pbx).create(command, slot, lambda: True) == connection
    assert len(pbx.lines) == len(replies)


@pytest.mark.parametrize("wanted", [[False], [True, False]])
@virtual_time
async def test_a_stopped_stream_gets_no_channel(wanted: list[bool]) -> None:
    """Its stop has hung the channel up while the reply to a request was awaited."""
    pbx = ReplyingPbx(NONE, LOST)
    command = StartStream(STREAM, StreamData("wss://bot.example/x"))
    slot = StreamSlot("switchroom-0", Lease())
    answers = iter(wanted)
    assert await StreamChannels(pbx).create(command, slot, lambda: next(answers, False)) is None
    assert len(pbx.lines) == len(wanted)


@pytest.mark.parametrize("replies", [[NONE], [Reply(204)], [LOST, Reply(204)], [LOST] * 4])
@virtual_time
async def test_the_end_of_a_channel(replies: list[Reply]) -> None:
    """It is requested again if the reply was lost, for a while."""
    pbx = ReplyingPbx(*replies)
    await StreamChannels(pbx).hang_up(STREAM, StreamSlot("switchroom-0", Lease()))
    assert pbx.lines == [f"DELETE channels/{STREAM}"] * len(replies)
