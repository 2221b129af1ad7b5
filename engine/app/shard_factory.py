"""Builds nodes, their shards and what listens for them, from the settings."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct

from engine.app.connections import media_url
from engine.ari.client import AriClient
from engine.ari.request import LOST, OnReply, Reply, Request
from engine.config import Settings
from engine.observe.telemetry import Telemetry
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.phone_locator import NodeAgents
from engine.runtime.agents.registered_endpoints import APP as PRESENCE_APP
from engine.runtime.agents.registered_endpoints import UNUSED_EVENTS as PRESENCE_UNUSED
from engine.runtime.agents.registered_endpoints import RegisteredEndpoints
from engine.runtime.base.clock import Clock
from engine.runtime.base.interfaces import DialPolicy, Pbx
from engine.runtime.call_service import CallService
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.pbx.endpoint_templates import EndpointTemplates, trunk_templates
from engine.runtime.pbx.wrappers import FencedPbx, LatencyAverage, TimedPbx, TracedPbx
from engine.runtime.pbx_nodes.node import (
    NO_STREAM_REPORTS,
    Node,
    PeerDigits,
    no_peer_digits,
)
from engine.runtime.pbx_nodes.slots import DialplanSlots, SlotListener
from engine.runtime.recording.recorder import FencedRecorder, Recorder
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.node_streams import FencedStreams, NodeStreams
from engine.settings.nodes import NodeSettings
from engine.store.writer import Writer
from wire.shard import ShardId

PRESENCE_RETRY_S = 2.0


class NodeConnection(Struct, frozen=True):
    """How a node is reached."""

    latency: LatencyAverage
    ari: AriClient | None = None  # None: it is not configured any more
    media_url: str = ""
    recorder: Recorder | None = None
    streams: NodeStreams | None = None


class ShardDependencies(Struct, frozen=True):
    """What shards and nodes are built from."""

    settings: Settings
    clock: Clock
    service: CallService
    shards: ShardMap
    agents: AgentPresence
    io: IoRunner
    policy: DialPolicy
    telemetry: Telemetry


class NodeShardFactory:
    """Implements `ownership.ShardFactory`."""

    def __init__(self, parts: ShardDependencies) -> None:
        self._parts = parts
        self._settings = parts.settings
        self._connections: dict[str, NodeConnection] = {}

    def node(  # noqa: PLR0913 - collaborators are passed in
        self,
        settings: NodeSettings,
        ari: AriClient,
        recorder: Recorder | None,
        peer_digits: PeerDigits = no_peer_digits,
        *,
        shards: dict[int, CallShard] | None = None,
        streams: NodeStreams | None = None,
    ) -> Node:
        """Build a node, without shards yet."""
        latency = LatencyAverage(time.monotonic)
        self._connections[settings.name] = NodeConnection(
            latency, ari, media_url(self._settings, settings), recorder, streams
        )
        return self._node(
            settings.name,
            ari,
            sip_address=settings.sip_address,
            latency_ms=lambda: latency.average_ms,
            peer_digits=peer_digits,
            shards=shards,
            stream_reports=streams.reports if streams else NO_STREAM_REPORTS,
            gateways=streams.gateways if streams else (),
        )

    def placeholder(self, name: str) -> Node:
        self._connections[name] = NodeConnection(LatencyAverage(time.monotonic))
        return self._node(name, UnreachablePbx())

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        connection, telemetry = self._connections[node.name], self._parts.telemetry
        metrics, traces = telemetry.metrics, telemetry.traces
        pbx: Pbx = TimedPbx(node.pbx, connection.latency, metrics, node.name, slot)
        fenced = FencedPbx(TracedPbx(pbx, traces) if traces else pbx, lease)
        recorder = FencedRecorder(connection.recorder, lease) if connection.recorder else None
        endpoints = self._endpoints(node.name, connection, slot)
        legs = self._parts.service.node_selection.legs
        streams = connection.streams
        fenced_streams = FencedStreams(streams, lease, endpoints.app) if streams else None
        context = ShardContext(
            node.name,
            slot,
            fenced,
            endpoints,
            recorder,
            lease,
            metrics,
            legs,
            fenced_streams,
        )
        return CallShard(context, self._parts.clock, writer, self._parts.io, node)

    def listen(
        self, node: Node, slot: int, replaced: Callable[[ShardId], None]
    ) -> Coroutine[Any, Any, None]:
        grace_ms = self._settings.node_grace_s * 1000
        context, ari = node.shards[slot].context, self._connections[node.name].ari
        if ari is None:
            return never_connected(node, slot, grace_ms)
        listener = SlotListener(node, slot, grace_ms, replaced)
        return ari.events(
            context.endpoints.app, listener, is_allowed=lambda: context.lease.holds
        ).run()

    async def tell_slots(self, node: str, ari: AriClient) -> None:
        """Tell a node's dialplan the number of slots, until cancelled."""
        await DialplanSlots(node, ari, lambda: self._parts.shards.slots).run()

    async def watch_presence(self, node: str, ari: AriClient) -> None:
        """Watch the registrations at a node, until cancelled."""
        presences = self._parts.agents.registered_endpoints
        presence = RegisteredEndpoints(node, ari, self._parts.agents.directory.is_trunk)
        presences[node] = presence
        try:
            while True:
                await ari.events(PRESENCE_APP, presence, PRESENCE_UNUSED).run()
                # Another engine has the app, which knows of a change of roles earlier or later.
                await asyncio.sleep(PRESENCE_RETRY_S)
        finally:
            if presences.get(node) is presence:
                del presences[node]
            await presence.close()

    def _node(self, name: str, pbx: Pbx, **options: Any) -> Node:
        parts = self._parts
        return Node(
            name,
            pbx,
            parts.clock,
            parts.service.handle_incoming,
            parts.agents.party_of,
            check_agent=parts.agents.check,
            check_replacement=parts.service.check_replacement,
            **options,
        )

    def _endpoints(self, node: str, connection: NodeConnection, slot: int) -> EndpointTemplates:
        return EndpointTemplates(
            app=f"switchroom-{slot}",
            trunk=self._settings.trunk_endpoint,
            trunks=trunk_templates(self._settings.trunk_endpoint, self._settings.further_trunks),
            agent=self._settings.agent_endpoint,
            media_url=connection.media_url,
            agents=NodeAgents(node, self._parts.agents.directory, self._parts.service.phones),
            policy=self._parts.policy,
            trunk_refers=self._settings.trunk_refer,
        )


class UnreachablePbx:
    """A PBX that loses every request."""

    keeps_order = True

    def send(self, _request: Request, _key: str, _may_block: bool, done: OnReply) -> None:
        asyncio.get_running_loop().call_soon(done, LOST)

    async def ask(self, _request: Request) -> Reply:
        return LOST


async def never_connected(node: Node, slot: int, grace_ms: int) -> None:
    """Stand in for a listener that never connects, until cancelled."""
    node.on_disconnected(slot, grace_ms)
    await asyncio.Event().wait()
