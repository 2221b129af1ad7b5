"""The channels of streams, and an owner that loses its lease meanwhile."""

import asyncio

import pytest

from engine.ari.request import Reply
from engine.calls.model.stream_commands import StartStream
from engine.runtime.streams.channels import StreamChannels
from engine.runtime.streams.slot import LeaseLost, StreamSlot
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.until import until
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
        StreamChannels(pbx).create(command, StreamSlot("switchroom-0", lease))
    )
    await until(lambda: len(pbx.sent) == 1, every_s=0.001)
    lease.holds = False
    pbx.reply(Reply(404))
    with pytest.raises(LeaseLost):
        await creating
    assert pbx.lines == [f"GET channels/{STREAM}/variable"]
