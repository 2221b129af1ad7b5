"""Stream commands of calls, with a recording PBX and simulated gateways over real connections."""

import json

from engine.ari.request import Reply, Request
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamConnected, StreamEnded
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.streams.node_streams import FencedStreams
from tests.contract.runtime.streams.bench import EXTERNAL_MEDIA, URL, Held, StreamBench
from tests.harness.until import until
from tests.unit.runtime.harness.shard_bench import answered_call
from wire.streams import reports
from wire.streams.setup import DigitMessage


async def test_a_stream_is_set_up(bench: StreamBench) -> None:
    """A channel is created in the call's app, and a gateway gets its socket and the bot."""
    await bench.run(bench.command)
    assert bench.results == [None]
    (created,) = [each for each in bench.requests if each.path == EXTERNAL_MEDIA]
    assert dict(created.query) == {
        "channelId": bench.stream, "app": "switchroom-0", "external_host": "INCOMING",
        "encapsulation": "none", "transport": "websocket", "connection_type": "server",
        "format": "ulaw", "transport_data": "f(json)",
    }  # fmt: skip
    setup = bench.gateway_with(bench.stream).setups[bench.stream]
    assert setup.media_url == "ws://pbx:8088/media/0f3a"
    assert (setup.bot.url, setup.bot.networks, setup.bot.denied) == (
        URL, ("10.0.0.0/8",), ("192.0.2.0/24",)
    )  # fmt: skip
    assert setup.parameters == {"name": "Ada"}
    assert setup.call_id == bench.live_call.call.id
    assert setup.bot.headers["webhook-id"] == bench.stream


async def test_a_repeated_start_changes_nothing(bench: StreamBench) -> None:
    """The channel exists, so none is created, and the same gateway is asked again."""
    await bench.run(bench.command)
    bench.pbx.shows[f"channels/{bench.stream}/variable"] = Reply(200, b'{"value":"0f3a"}')
    await bench.run(bench.command)
    assert bench.results == [None, None]
    assert sum(bench.stream in each.setups for each in bench.gateways) == 1
    assert [each.path for each in bench.requests].count(EXTERNAL_MEDIA) == 1


async def test_a_full_gateway_is_left_out(bench: StreamBench) -> None:
    """The other one takes the stream; if there is none, the call learns it."""
    for refusing in bench.gateways:
        refusing.refusal = 503
    bench.gateways[1].refusal = 0
    await bench.run(bench.command)
    assert bench.stream in bench.gateways[1].setups
    bench.gateways[1].refusal = 503
    other = StartStream(f"{bench.live_call.call.id}.w99", bench.command.data)
    await bench.run(other)
    ended = bench.results[-1]
    assert isinstance(ended, StreamEnded)
    assert (ended.reason, ended.stream) == ("no-gateway", other.stream)
    assert ("DELETE", f"channels/{other.stream}") in [(e.method, e.path) for e in bench.requests]


async def test_a_rejected_stream_is_not_tried_elsewhere(bench: StreamBench) -> None:
    """Another gateway would reject it, too."""
    for each in bench.gateways:
        each.refusal = 400
    await bench.run(bench.command)
    assert isinstance(bench.results[0], StreamEnded)


async def test_a_pbx_without_the_module(bench: StreamBench) -> None:
    """The reason names the PBX."""
    bench.pbx.shows[EXTERNAL_MEDIA] = Reply(500, b'{"message":"Allocation failed"}')
    await bench.run(bench.command)
    ended = bench.results[0]
    assert isinstance(ended, StreamEnded)
    assert ended.reason == "pbx-unreachable"


async def test_messages_and_the_end(bench: StreamBench) -> None:
    """They go to the gateway that has the stream; the channel is hung up."""
    await bench.run(bench.command)
    stream, gateway = bench.stream, bench.gateway_with(bench.stream)
    await bench.run(SendToStream(stream, "m1", DigitMessage("7")))
    assert gateway.messages == [(stream, "m1", {"type": "digit", "digit": "7"})]
    await bench.run(StopStream(stream))
    assert gateway.deleted == [stream]
    assert ("DELETE", f"channels/{stream}") in [(e.method, e.path) for e in bench.requests]


async def test_messages_wait_for_a_gateway_that_is_silent(bench: StreamBench) -> None:
    """A bot that never learned the end of its action would be silent for ever."""
    await bench.run(bench.command)
    stream, gateway = bench.stream, bench.gateway_with(bench.stream)
    gateway.refusal = 503
    first, second = (SendToStream(stream, f"m{each}", DigitMessage(str(each))) for each in (1, 2))
    bench.runner.run(first, bench.live_call.call, bench.results.append)
    await until(lambda: gateway.attempts > 0, what="a message to be refused")
    bench.runner.run(second, bench.live_call.call, bench.results.append)
    gateway.refusal = 0
    await until(lambda: len(gateway.messages) > 1, what="both messages")
    assert [message_id for _, message_id, _ in gateway.messages] == ["m1", "m2"]


async def test_messages_do_not_wait_for_a_stream_that_has_ended(bench: StreamBench) -> None:
    """They are dropped with it."""
    await bench.run(bench.command)
    stream, gateway = bench.stream, bench.gateway_with(bench.stream)
    gateway.refusal = 503
    message = SendToStream(stream, "m1", DigitMessage("1"))
    bench.runner.run(message, bench.live_call.call, bench.results.append)
    await until(lambda: gateway.attempts > 0, what="a message to be refused")
    await bench.run(StopStream(stream))
    await until(lambda: len(bench.results) == 3, what="the message to be given up")
    assert gateway.messages == []


async def test_reports_reach_the_call(bench: StreamBench) -> None:
    """Those of other calls are ignored."""
    await bench.run(bench.command)
    gateway = bench.gateway_with(bench.stream)
    await gateway.report(reports.StreamConnected("0-pbx1-unknown00.w1", 1, 2))
    await gateway.report(reports.StreamConnected(bench.stream, 1, 2))
    await until(
        lambda: bench.live_call.call.streams[0].connected_ms > 0, what="the report to arrive"
    )


async def test_a_report_of_a_later_gateway(bench: StreamBench) -> None:
    """Fields that the engine does not know are ignored."""
    await bench.run(bench.command)
    report = {"type": "connected", "stream": bench.stream, "atMs": 1, "connectMs": 2, "later": [3]}
    await bench.gateway_with(bench.stream).report_text(json.dumps(report))
    await until(
        lambda: bench.live_call.call.streams[0].connected_ms > 0, what="the report to arrive"
    )


async def test_a_report_that_an_engine_missed(bench: StreamBench) -> None:
    """It is in the snapshot that the gateway sends when the engine is back."""
    await bench.run(bench.command)
    stream, gateway = bench.stream, bench.gateway_with(bench.stream)
    gateway.ended = (reports.StreamEnded(stream, "bot-closed", 5, 4, 3),)
    await gateway.disconnect()
    await until(lambda: bench.live_call.call.streams == (), what="the stream to end")


async def test_a_transcript_that_an_engine_missed(bench: StreamBench) -> None:
    """The recognizer ended after it; the caller has answered all the same."""
    live_call = answered_call(bench.shards, {"type": "gather", "data": {"input": ["speech"]}})
    stream = live_call.call.streams[-1].id
    heard = reports.Transcribed(stream, "yes", 0.9, True, 5)
    ended = reports.StreamEnded(stream, "bot-lost", 6, 4, 0, transcript=heard)
    bench.reports.on_report(bench.streams.gateways[0], reports.Snapshot((), (ended,)))
    assert live_call.call.gathered[-1].speech == "yes"


async def test_a_stream_that_its_gateway_has_lost(bench: StreamBench) -> None:
    """A gateway that restarted knows nothing of it: another stream takes its place."""
    await bench.run(bench.command)
    stream, gateway = bench.stream, bench.gateway_with(bench.stream)
    await gateway.disconnect()
    await until(lambda: bench.stream != stream, what="another stream")
    assert bench.live_call.call.streams[0].id != stream


async def test_a_recovered_call_learns_the_last_report(bench: StreamBench) -> None:
    """It came while another engine had the call."""
    await bench.run(bench.command)
    event = StreamConnected(bench.stream, 1, 2)
    gateway = bench.gateway_with(bench.stream)
    call, bench.shards.shard.calls = bench.live_call.call, {}
    await gateway.report(reports.StreamConnected(event.stream, 1, 2))
    await gateway.report(reports.StreamConnected("0-pbx1-unknown00.w1", 1, 2))
    later = LiveCall(call)
    bench.shards.shard.calls = {call.id: later}
    await until(lambda: bool(_recovered(bench, later)), what="the report to be repeated")


def _recovered(bench: StreamBench, live_call: LiveCall) -> int:
    bench.reports.recover(bench.shards.shard)
    return live_call.call.streams[0].connected_ms


async def test_a_lost_lease_stops_commands(bench: StreamBench) -> None:
    """Another engine may own the call."""
    bench.lease.holds = False
    bench.runner.run(bench.command, bench.live_call.call, bench.results.append)
    assert bench.requests == []


async def test_a_lease_that_is_lost_meanwhile_stops_a_command(bench: StreamBench) -> None:
    """No gateway gets the stream, and the command has no result: the next owner runs it again."""

    def lose(request: Request) -> None:
        bench.lease.holds = bench.lease.holds and request.path != EXTERNAL_MEDIA

    bench.pbx.on_ask = lose
    bench.runner.run(bench.command, bench.live_call.call, bench.results.append)
    await until(lambda: not bench.lease.holds, what="the channel to be requested")
    first, bench.runner = bench.runner, FencedStreams(bench.streams, Held(1), "switchroom-0")
    await bench.run(bench.command)
    assert bench.results == [None]
    first.run(bench.command, bench.live_call.call, bench.results.append)
    await bench.run(StopStream(bench.stream))
    assert bench.results == [None, None]
