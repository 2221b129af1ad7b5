"""The streams of one engine at one simulated PBX, which has one simulated gateway."""

from collections.abc import Callable, Mapping

from engine.runtime.base.interfaces import Pbx
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.channels import StreamChannels
from engine.runtime.streams.gateway_client import ReportListener
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.node_streams import NodeStreams
from engine.runtime.streams.report_feed import GatewayListener, ReportFeed
from engine.runtime.streams.setup import BotNetworks, SetupFactory
from engine.webhooks.signatures import Signer
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.streams.client import SimGatewayClient
from tests.harness.sim.streams.gateway import SimGateway
from wire.tree import DEFAULT_LIMITS

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of the standard's documents
WrapReports = Callable[[ReportListener], ReportListener]


async def any_recognizer(_account: str) -> None:
    """Let an account name all recognizers."""


async def _signer(_account: str) -> Signer:
    return Signer(SECRET)


def open_streams(
    pbx: Pbx,
    gateway: SimGateway,
    shards: Mapping[int, CallShard],
    loop: SimLoop,
    wrap_reports: WrapReports,
) -> NodeStreams:
    """Let an engine read a gateway's reports; return what runs its stream commands."""
    known = Gateway(SimGatewayClient(gateway, loop))
    setups = SetupFactory("ws://sim", _signer, BotNetworks(lambda _account: ()), loop.time)
    pool = GatewayPool([known])
    reports = ReportFeed(pool, shards, DEFAULT_LIMITS)
    streams = NodeStreams(StreamChannels(pbx), pool, setups, reports, any_recognizer)
    gateway.read(wrap_reports(GatewayListener(known, reports, loop.time)), loop)
    return streams
