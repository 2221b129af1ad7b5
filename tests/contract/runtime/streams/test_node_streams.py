"""Stream commands of calls, with a recording PBX and simulated gateways over real connections."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import aiohttp
import pytest

from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.events import Event
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.calls.model.stream_events import StreamConnected, StreamEnded
from engine.common.tasks import cancel_all
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.node_streams import FencedStreams, NodeStreams
from engine.runtime.streams.report_listener import SILENT_S, GatewayListener
from engine.runtime.streams.setup import BotNetworks, SetupFactory
from engine.streams.client import GatewayClient
from engine.webhooks.signatures import Signer
from tests.contract.runtime.streams.simulated_gateway import TOKEN, SimulatedGateway
from tests.harness.until import until
from tests.unit.calls.harness.builders import tree
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import ShardBench, answered_call
from wire.streams import reports
from wire.streams.setup import DigitMessage
from wire.tree import Limits
from wire.verbs import Stream

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of the standard's documents
URL = "wss://bot.example/socket"
VERB = {"type": "stream", "data": {"url": URL, "parameters": {"name": "Ada"}}}
CONNECTION = b'"channelvars":{"MEDIA_WEBSOCKET_CONNECTION_ID":"0f3a"}'
CHANNEL = (
    b'{"id":"x","protocol_id":"","name":"","state":"Down","caller":{"name":"","number":""},'
    b'"connected":{"name":"","number":""},"accountcode":"","dialplan":{"context":"","exten":"",'
    b'"priority":1,"app_name":"","app_data":""},"creationtime":"","language":"en",%s}' % CONNECTION
)
EXTERNAL_MEDIA = "channels/externalMedia"


class Held:
    """A lease."""

    def __init__(self, token: int = 0) -> None:
        self.token = token
        self.holds = True


class AnsweringPbx(RecordingPbx):
    """A PBX that shows the channels of streams; a request is on a websocket unless it may block."""

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        assert not may_block
        assert key
        self.on_ask(request)
        asyncio.get_running_loop().call_soon(done, self.shows.get(request.path, Reply(404)))


class StreamBench:
    """A call that streams, at a node with two gateways."""

    def __init__(self, gateways: list[SimulatedGateway], http: aiohttp.ClientSession) -> None:
        self.shards = ShardBench()
        self.pbx = AnsweringPbx()
        self.pbx.shows[EXTERNAL_MEDIA] = Reply(200, CHANNEL)
        self.requests: list[Request] = []
        self.pbx.on_ask = self.requests.append
        self.gateways = gateways
        self.results: list[Event | None] = []
        self.lease = Held()
        clients = [GatewayClient(each.url(), TOKEN, http, random.random) for each in gateways]
        known = [Gateway(each) for each in clients]

        async def signer_of(_account: str) -> Signer:
            return Signer(SECRET)

        networks = BotNetworks(lambda _account: ("10.0.0.0/8",), ("192.0.2.0/24",))
        setups = SetupFactory("ws://pbx:8088", signer_of, networks)
        shards = {0: self.shards.shard}
        self.streams = NodeStreams(self.pbx, GatewayPool(known), shards, setups, Limits())
        self.runner = FencedStreams(self.streams, self.lease, "switchroom-0")
        listeners = (GatewayListener(each, self.streams, time.monotonic) for each in known)
        pairs = zip(clients, listeners, strict=True)
        self.tasks = [asyncio.create_task(client.run(each)) for client, each in pairs]
        self.live_call = answered_call(self.shards, VERB)

    @property
    def command(self) -> StartStream:
        """Return the command that starts the call's stream."""
        verb = tree(VERB)
        assert isinstance(verb, Stream)
        return StartStream(self.stream, verb.data)

    @property
    def stream(self) -> str:
        """Return the id of the call's last stream."""
        return self.live_call.call.streams[-1].id

    async def run(self, *commands: StartStream | StopStream | SendToStream) -> None:
        """Run commands and wait for their results."""
        wanted = len(self.results) + len(commands)
        for command in commands:
            self.runner.run(command, self.live_call.call, self.results.append)
        await until(lambda: len(self.results) >= wanted, what="the results")

    def last_event(self, live_call: LiveCall) -> str:
        """Return the reason of the call's stream's end, as the call knows it."""
        return live_call.call.streams[-1].end_reason if live_call.call.streams else ""

    def gateway_with(self, stream: str) -> SimulatedGateway:
        """Return the gateway that has set a stream up."""
        return next(each for each in self.gateways if stream in each.setups)


@pytest.fixture
async def bench() -> AsyncIterator[StreamBench]:
    """Return two gateways and a call."""
    async with AsyncExitStack() as stack:
        gateways = [await stack.enter_async_context(SimulatedGateway()) for _ in range(2)]
        http = await stack.enter_async_context(aiohttp.ClientSession())
        made = StreamBench(gateways, http)
        yield made
        await cancel_all(made.tasks)
        await made.streams.close()


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
    """The channel exists, and the same gateway is asked again."""
    await bench.run(bench.command)
    bench.pbx.shows[EXTERNAL_MEDIA] = Reply(409)
    bench.pbx.shows[f"channels/{bench.stream}"] = Reply(200, CHANNEL)
    await bench.run(bench.command)
    assert bench.results == [None, None]
    assert sum(bench.stream in each.setups for each in bench.gateways) == 1


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
    bench.streams.on_report(bench.streams.gateways[0], reports.Snapshot((), (ended,)))
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
    bench.streams.recover(bench.shards.shard)
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


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.at_s = 0.0

    def now_s(self) -> float:
        return self.at_s


async def test_streams_of_a_silent_gateway_are_lost(bench: StreamBench) -> None:
    """Two connections that fail are none of the engine's own pauses; another one has the stream."""
    await bench.run(bench.command)
    stream = bench.stream
    silent = next(each for each in bench.streams.gateways if stream in each.streams)
    await until(
        lambda: all(each.is_connected for each in bench.streams.gateways), what="the connections"
    )
    clock = Clock()
    listener = GatewayListener(silent, bench.streams, clock.now_s)
    listener.on_disconnected()
    listener.on_disconnected()
    clock.at_s = SILENT_S
    assert bench.stream == stream
    listener.on_disconnected()
    assert bench.stream != stream
    assert silent.streams == set()


async def test_streams_of_the_only_gateway_may_go_on(bench: StreamBench) -> None:
    """None could take their place: it may only be cut off from the engine."""
    await bench.run(bench.command)
    stream = bench.stream
    clock = Clock()
    gateways = bench.streams.gateways
    listeners = [GatewayListener(each, bench.streams, clock.now_s) for each in gateways]
    for at_s in (0.0, 0.0, 10 * SILENT_S):
        clock.at_s = at_s
        for listener in listeners:
            listener.on_disconnected()
    assert bench.stream == stream
