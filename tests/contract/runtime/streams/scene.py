"""A call that streams, with a recording PBX and simulated gateways over real connections."""

import asyncio
import random
import time

import aiohttp

from base.tasks import cancel_all
from engine.ari.request import OnReply, Reply, Request
from engine.calls.model.events import Event
from engine.calls.model.stream_commands import SendToStream, StartStream, StopStream
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.streams.channels import StreamChannels
from engine.runtime.streams.gateway_client import GatewayClient
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.node_streams import FencedStreams, NodeStreams
from engine.runtime.streams.report_feed import GatewayListener, ReportFeed
from engine.runtime.streams.setup import BotNetworks, SetupFactory
from engine.webhooks.signatures import Signer
from tests.contract.runtime.streams.simulated_gateway import TOKEN, SimulatedGateway
from tests.harness.calls.builders import tree
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ShardScene, answered_call
from tests.harness.until import until
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
        self.unseen_ms = 0


class AnsweringPbx(RecordingPbx):
    """A PBX that shows the channels of streams; a request is on a websocket unless it may block."""

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        assert not may_block
        assert key
        self.on_ask(request)
        asyncio.get_running_loop().call_soon(done, self.shows.get(request.path, Reply(404)))


class StreamScene:
    """A call that streams, at a node with two gateways."""

    def __init__(self, gateways: list[SimulatedGateway], http: aiohttp.ClientSession) -> None:
        self.shards = ShardScene()
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
        pool = GatewayPool(known)
        self.reports = ReportFeed(pool, shards, Limits())
        self.recognizers: tuple[str, ...] | None = None  # that the account may name

        async def recognizers_of(_account: str) -> tuple[str, ...] | None:
            return self.recognizers

        self.streams = NodeStreams(
            StreamChannels(self.pbx), pool, setups, self.reports, recognizers_of
        )
        self.runner = FencedStreams(self.streams, self.lease, "switchroom-0")
        listeners = (GatewayListener(each, self.reports, time.monotonic) for each in known)
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

    async def close(self) -> None:
        """Stop listening, and cancel what runs."""
        await cancel_all(self.tasks)
        await self.streams.close()
