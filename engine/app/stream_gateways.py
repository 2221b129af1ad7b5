"""Connects a node with the stream gateways beside it."""

import random
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from ssl import SSLContext

import aiohttp
from msgspec import Struct
from yarl import URL

from engine.app.account_networks import address_guards
from engine.ari.client import AriClient
from engine.config import Settings
from engine.runtime.cluster.node_duties import Work
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.channels import StreamChannels
from engine.runtime.streams.gateway_client import GatewayClient
from engine.runtime.streams.gateway_pool import Gateway, GatewayPool
from engine.runtime.streams.node_streams import NodeStreams, RecognizersOf
from engine.runtime.streams.report_feed import GatewayListener, ReportFeed
from engine.runtime.streams.setup import BotNetworks, SetupFactory
from engine.settings.nodes import NodeSettings
from engine.webhooks.signatures import SignerLookup
from wire.tree import Limits


class StreamDependencies(Struct, frozen=True):
    """What the streams of all nodes have in common."""

    settings: Settings
    limits: Limits
    signer_of: SignerLookup
    recognizers_of: RecognizersOf
    tls: SSLContext | None = None  # verifies gateways; None: by the system's certificates


class NodeGateways(Struct, frozen=True):
    """The streams of a node, and what keeps the reports of its gateways coming."""

    streams: NodeStreams
    work: tuple[Work, ...]


async def open_gateways(
    parts: StreamDependencies,
    stack: AsyncExitStack,
    node: NodeSettings,
    ari: AriClient,
    shards: Mapping[int, CallShard],
) -> NodeGateways | None:
    """Open the clients of a node's gateways; None if it has none."""
    token = parts.settings.streams_token
    if not node.stream_gateways or token is None:
        return None
    connector = aiohttp.TCPConnector(ssl=parts.tls or True)
    http = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
    secret = token.get_secret_value()
    clients = [GatewayClient(str(url), secret, http, random.random) for url in node.stream_gateways]
    gateways = [Gateway(each) for each in clients]
    setups = SetupFactory(_media_url(node), parts.signer_of, _bot_networks(parts.settings))
    pool = GatewayPool(gateways)
    reports = ReportFeed(pool, shards, parts.limits)
    streams = NodeStreams(StreamChannels(ari), pool, setups, reports, parts.recognizers_of)
    stack.push_async_callback(streams.close)
    listeners = (GatewayListener(each, reports, time.monotonic) for each in gateways)
    work = (partial(client.run, each) for client, each in zip(clients, listeners, strict=True))
    return NodeGateways(streams, tuple(work))


def _media_url(node: NodeSettings) -> str:
    """Return where a gateway reaches the websockets of the node's stream channels."""
    url = URL(str(node.url))
    return str(url.with_scheme("wss" if url.scheme == "https" else "ws")).rstrip("/")


def _bot_networks(settings: Settings) -> BotNetworks:
    """Return the networks of bots: those of webhooks."""
    guards = address_guards(settings, settings.webhook_allow)

    def allowed(account: str) -> tuple[str, ...]:
        return tuple(map(str, guards.of(account).allow))

    return BotNetworks(allowed, settings.outbound_deny)
