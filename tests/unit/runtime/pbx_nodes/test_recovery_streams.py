"""A recovery of calls with streams: the gateway may tell later than the PBX what has ended."""

import asyncio
import time

import msgspec

from engine.ari.request import Reply
from engine.calls.model.io_commands import SendWebhook
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.report_feed import GatewayListener, ReportFeed
from tests.harness.calls.builders import MAIN
from tests.harness.calls.recognizers import SPEECH, listening, recognizer, speak
from tests.harness.runtime.ari_messages import channel
from tests.harness.runtime.shard_scene import ShardScene
from tests.harness.until import until
from wire.streams.reports import Snapshot, StreamEnded, Transcribed
from wire.streams.setup import StreamMessage, StreamSetup
from wire.tree import DEFAULT_LIMITS


class NoRequests:
    """The client of a gateway that gets no requests."""

    async def set_up(self, stream: str, setup: StreamSetup) -> None:
        raise AssertionError(stream, setup)

    async def send(self, stream: str, message_id: str, message: StreamMessage) -> None:
        raise AssertionError(stream, message_id, message)

    async def end(self, stream: str) -> None:
        """Forget the stream."""


async def test_what_a_recognizer_understood_last_is_not_lost() -> None:
    """An engine that has just started waits for the gateway's first report, then concludes."""
    story = listening(SPEECH)
    speak(story)
    stream = recognizer(story).id
    scene = ShardScene()
    gateway = Gateway(NoRequests())
    reports = ReportFeed(GatewayPool([gateway]), {0: scene.shard}, DEFAULT_LIMITS)
    listener = GatewayListener(gateway, reports, time.monotonic)
    node = scene.node(stream_reports=reports)
    live_call = scene.shard.adopt(LiveCall(story.call))
    scene.pbx.shows["channels"] = Reply(200, msgspec.json.encode([channel(MAIN, "Up")]))
    requested: list[str] = []
    scene.pbx.on_ask = lambda request: requested.append(request.path)
    node.on_disconnected(0, 30_000)
    node.on_connected(0)
    await until(lambda: "bridges" in requested, every_s=0.001)
    for _ in range(100):
        await asyncio.sleep(0)  # a turn of the loop, not a time
    assert node.is_paused
    understood = Transcribed(stream, "sales", 0.9, is_voice=True, at_ms=1)
    ended = StreamEnded(stream, "bot-closed", 2, 1, 0, transcript=understood)
    listener.on_connected()
    listener.on_report(Snapshot((), (ended,)))
    await until(lambda: not node.is_paused, every_s=0.001)
    sent = [each for each in live_call.outbox.commands if isinstance(each, SendWebhook)]
    assert [msgspec.json.decode(each.body)["reason"] for each in sent] == ["speech"]
    await node.close()
