"""Stream commands of calls, with a recording PBX and simulated gateways over real connections."""

import json
from hashlib import sha256

import pytest
from msgspec.structs import replace

from engine.ari.request import Reply, Request
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamConnected, StreamEnded
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.streams.node_streams import FencedStreams
from tests.contract.runtime.streams.scene import EXTERNAL_MEDIA, URL, Held, StreamScene
from tests.harness.runtime.shard_scene import answered_call
from tests.harness.until import until
from wire.streams import reports
from wire.streams.recognizer import RecognizerStart
from wire.streams.setup import DigitMessage, Recognition


async def test_a_stream_is_set_up(scene: StreamScene) -> None:
    """A channel is created in the call's app, and a gateway gets its socket and the bot."""
    await scene.run(scene.command)
    assert scene.results == [None]
    (created,) = [each for each in scene.requests if each.path == EXTERNAL_MEDIA]
    assert dict(created.query) == {
        "channelId": scene.stream, "app": "switchroom-0", "external_host": "INCOMING",
        "encapsulation": "none", "transport": "websocket", "connection_type": "server",
        "format": "ulaw", "transport_data": "f(json)",
    }  # fmt: skip
    setup = scene.gateway_with(scene.stream).setups[scene.stream]
    assert setup.media_url == "ws://pbx:8088/media/0f3a"
    assert (setup.bot.url, setup.bot.networks, setup.bot.denied) == (
        URL, ("10.0.0.0/8",), ("192.0.2.0/24",)
    )  # fmt: skip
    assert setup.parameters == {"name": "Ada"}
    assert setup.call_id == scene.live_call.call.id
    assert setup.bot.headers["webhook-id"] == scene.stream
    assert setup.bot.headers["webhook-url-sha256"] == sha256(URL.encode()).hexdigest()


async def test_a_repeated_start_changes_nothing(scene: StreamScene) -> None:
    """The channel exists, so none is created, and the same gateway is asked again."""
    await scene.run(scene.command)
    scene.pbx.shows[f"channels/{scene.stream}/variable"] = Reply(200, b'{"value":"0f3a"}')
    await scene.run(scene.command)
    assert scene.results == [None, None]
    assert sum(scene.stream in each.setups for each in scene.gateways) == 1
    assert [each.path for each in scene.requests].count(EXTERNAL_MEDIA) == 1


async def test_a_full_gateway_is_left_out(scene: StreamScene) -> None:
    """The other one takes the stream; if there is none, the call learns it."""
    for refusing in scene.gateways:
        refusing.refusal = 503
    scene.gateways[1].refusal = 0
    await scene.run(scene.command)
    assert scene.stream in scene.gateways[1].setups
    scene.gateways[1].refusal = 503
    other = StartStream(f"{scene.live_call.call.id}.w99", scene.command.data)
    await scene.run(other)
    ended = scene.results[-1]
    assert isinstance(ended, StreamEnded)
    assert (ended.reason, ended.stream) == ("no-gateway", other.stream)
    assert ("DELETE", f"channels/{other.stream}") in [(e.method, e.path) for e in scene.requests]


@pytest.mark.parametrize(
    ("allowed", "recognizer", "said"),
    [
        (None, "deepgram", ""),
        (("grammar", "deepgram"), "deepgram", ""),
        (("grammar", "whisper"), "deepgram", "expected one that this account may name: grammar"),
        ((), "grammar", "this account has none"),
    ],
)
async def test_a_recognizer_of_the_account(
    scene: StreamScene, allowed: tuple[str, ...] | None, recognizer: str, said: str
) -> None:
    """Whatever has sent the gather: a webhook, a flow or a bot. Another one costs nothing."""
    scene.recognizers = allowed
    recognition = Recognition(recognizer, RecognizerStart())
    await scene.run(replace(scene.command, recognition=recognition))
    (ended,) = scene.results
    if said:
        assert isinstance(ended, StreamEnded)
        assert ended.reason == "bot-refused"
        assert ended.detail.startswith(f"recognizer {recognizer}: {said}")
    else:
        assert ended is None
    assert bool(said) != any(each.path == EXTERNAL_MEDIA for each in scene.requests)


async def test_a_rejected_stream_is_not_tried_elsewhere(scene: StreamScene) -> None:
    """Another gateway would reject it, too."""
    for each in scene.gateways:
        each.refusal = 400
    await scene.run(scene.command)
    assert isinstance(scene.results[0], StreamEnded)


async def test_a_pbx_without_the_module(scene: StreamScene) -> None:
    """The reason names the PBX."""
    scene.pbx.shows[EXTERNAL_MEDIA] = Reply(500, b'{"message":"Allocation failed"}')
    await scene.run(scene.command)
    ended = scene.results[0]
    assert isinstance(ended, StreamEnded)
    assert ended.reason == "pbx-unreachable"


async def test_messages_and_the_end(scene: StreamScene) -> None:
    """They go to the gateway that has the stream; the channel is hung up."""
    await scene.run(scene.command)
    stream, gateway = scene.stream, scene.gateway_with(scene.stream)
    await scene.run(SendToStream(stream, "m1", DigitMessage("7")))
    assert gateway.messages == [(stream, "m1", {"type": "digit", "digit": "7"})]
    await scene.run(StopStream(stream))
    assert gateway.deleted == [stream]
    assert ("DELETE", f"channels/{stream}") in [(e.method, e.path) for e in scene.requests]


async def test_messages_wait_for_a_gateway_that_is_silent(scene: StreamScene) -> None:
    """A bot that never learned the end of its action would be silent for ever."""
    await scene.run(scene.command)
    stream, gateway = scene.stream, scene.gateway_with(scene.stream)
    gateway.refusal = 503
    first, second = (SendToStream(stream, f"m{each}", DigitMessage(str(each))) for each in (1, 2))
    scene.runner.run(first, scene.live_call.call, scene.results.append)
    await until(lambda: gateway.attempts > 0, what="a message to be refused")
    scene.runner.run(second, scene.live_call.call, scene.results.append)
    gateway.refusal = 0
    await until(lambda: len(gateway.messages) > 1, what="both messages")
    assert [message_id for _, message_id, _ in gateway.messages] == ["m1", "m2"]


async def test_messages_do_not_wait_for_a_stream_that_has_ended(scene: StreamScene) -> None:
    """They are dropped with it."""
    await scene.run(scene.command)
    stream, gateway = scene.stream, scene.gateway_with(scene.stream)
    gateway.refusal = 503
    message = SendToStream(stream, "m1", DigitMessage("1"))
    scene.runner.run(message, scene.live_call.call, scene.results.append)
    await until(lambda: gateway.attempts > 0, what="a message to be refused")
    await scene.run(StopStream(stream))
    await until(lambda: len(scene.results) == 3, what="the message to be given up")
    assert gateway.messages == []


async def test_reports_reach_the_call(scene: StreamScene) -> None:
    """Those of other calls are ignored."""
    await scene.run(scene.command)
    gateway = scene.gateway_with(scene.stream)
    await gateway.report(reports.StreamConnected("0-pbx1-unknown00.w1", 1, 2))
    await gateway.report(reports.StreamConnected(scene.stream, 1, 2))
    await until(
        lambda: scene.live_call.call.streams[0].connected_ms > 0, what="the report to arrive"
    )


async def test_a_report_of_a_later_gateway(scene: StreamScene) -> None:
    """Fields that the engine does not know are ignored."""
    await scene.run(scene.command)
    report = {"type": "connected", "stream": scene.stream, "atMs": 1, "connectMs": 2, "later": [3]}
    await scene.gateway_with(scene.stream).report_text(json.dumps(report))
    await until(
        lambda: scene.live_call.call.streams[0].connected_ms > 0, what="the report to arrive"
    )


async def test_a_report_that_an_engine_missed(scene: StreamScene) -> None:
    """It is in the snapshot that the gateway sends when the engine is back."""
    await scene.run(scene.command)
    stream, gateway = scene.stream, scene.gateway_with(scene.stream)
    gateway.ended = (reports.StreamEnded(stream, "bot-closed", 5, 4, 3),)
    await gateway.disconnect()
    await until(lambda: scene.live_call.call.streams == (), what="the stream to end")


async def test_a_transcript_that_an_engine_missed(scene: StreamScene) -> None:
    """The recognizer ended after it; the caller has answered all the same."""
    live_call = answered_call(scene.shards, {"type": "gather", "data": {"input": ["speech"]}})
    stream = live_call.call.streams[-1].id
    heard = reports.Transcribed(stream, "yes", 0.9, True, 5)
    ended = reports.StreamEnded(stream, "bot-lost", 6, 4, 0, transcript=heard)
    scene.reports.on_report(scene.streams.gateways[0], reports.Snapshot((), (ended,)))
    assert live_call.call.gathered[-1].speech == "yes"


async def test_a_stream_that_its_gateway_has_lost(scene: StreamScene) -> None:
    """A gateway that restarted knows nothing of it: another stream takes its place."""
    await scene.run(scene.command)
    stream, gateway = scene.stream, scene.gateway_with(scene.stream)
    await gateway.disconnect()
    await until(lambda: scene.stream != stream, what="another stream")
    assert scene.live_call.call.streams[0].id != stream


async def test_a_recovered_call_learns_the_last_report(scene: StreamScene) -> None:
    """It came while another engine had the call."""
    await scene.run(scene.command)
    event = StreamConnected(scene.stream, 1, 2)
    gateway = scene.gateway_with(scene.stream)
    call, scene.shards.shard.calls = scene.live_call.call, {}
    await gateway.report(reports.StreamConnected(event.stream, 1, 2))
    await gateway.report(reports.StreamConnected("0-pbx1-unknown00.w1", 1, 2))
    later = LiveCall(call)
    scene.shards.shard.calls = {call.id: later}
    await until(lambda: bool(_recovered(scene, later)), what="the report to be repeated")


def _recovered(scene: StreamScene, live_call: LiveCall) -> int:
    scene.reports.recover(scene.shards.shard)
    return live_call.call.streams[0].connected_ms


async def test_a_lost_lease_stops_commands(scene: StreamScene) -> None:
    """Another engine may own the call."""
    scene.lease.holds = False
    scene.runner.run(scene.command, scene.live_call.call, scene.results.append)
    assert scene.requests == []


async def test_a_lease_that_is_lost_meanwhile_stops_a_command(scene: StreamScene) -> None:
    """No gateway gets the stream, and the command has no result: the next owner runs it again."""

    def lose(request: Request) -> None:
        scene.lease.holds = scene.lease.holds and request.path != EXTERNAL_MEDIA

    scene.pbx.on_ask = lose
    scene.runner.run(scene.command, scene.live_call.call, scene.results.append)
    await until(lambda: not scene.lease.holds, what="the channel to be requested")
    first, scene.runner = scene.runner, FencedStreams(scene.streams, Held(1), "switchroom-0")
    await scene.run(scene.command)
    assert scene.results == [None]
    first.run(scene.command, scene.live_call.call, scene.results.append)
    await scene.run(StopStream(scene.stream))
    assert scene.results == [None, None]
