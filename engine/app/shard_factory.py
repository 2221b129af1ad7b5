"""Nodes, their desks and what listens for them, built from the settings."""

import time
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct

from engine.app.connections import media_url
from engine.ari.client import AriClient
from engine.config import NodeSettings, Settings
from engine.observe.telemetry import Telemetry
from engine.runtime.agents.presence import APP as PRESENCE_APP
from engine.runtime.agents.presence import UNUSED_EVENTS as PRESENCE_UNUSED
from engine.runtime.agents.presence import NodePresence
from engine.runtime.agents.status import AgentStatus
from engine.runtime.base.clock import Clock
from engine.runtime.base.ports import DialPolicy, Pbx
from engine.runtime.cluster.lease import Lease
from engine.runtime.io.runner import IoRunner
from engine.runtime.nodes.event_listener import SlotListener
from engine.runtime.nodes.node import Node
from engine.runtime.nodes.unreachable import UnreachablePbx, never_connected
from engine.runtime.pbx.endpoints import EndpointTemplates
from engine.runtime.pbx.fenced import FencedPbx
from engine.runtime.pbx.latency import LatencyAverage, TimedPbx
from engine.runtime.pbx.traced import TracedPbx
from engine.runtime.recording.fenced import FencedRecorder
from engine.runtime.recording.recorder import Recorder
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer


class NodeConnection(Struct, frozen=True):
    """What reaches a node."""

    latency: LatencyAverage
    ari: AriClient | None = None  # none: it is not configured any more
    media_url: str = ""
    recorder: Recorder | None = None


class NodeShardFactory:
    """Builds nodes, their desks and what listens for them (`slots.Builder`)."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        settings: Settings,
        clock: Clock,
        running: IoRunner,
        everyone: AgentStatus,
        seen: Telemetry,
        judge: DialPolicy,
    ) -> None:
        self._judge = judge
        self._settings = settings
        self._clock = clock
        self._errands = running
        self._roster = everyone
        self._seen = seen
        self._ways: dict[str, NodeConnection] = {}

    def node(self, named: NodeSettings, way: AriClient, tapes: Recorder | None) -> Node:
        """Build a node, without desks yet; calls that come in there go to the switch."""
        strain = LatencyAverage(time.monotonic)
        self._ways[named.name] = NodeConnection(
            strain, way, media_url(self._settings, named), tapes
        )
        arrive = self._roster.switch.handle_incoming
        return Node(named.name, way, {}, self._clock, arrive, lambda: strain.average_ms)

    def placeholder(self, name: str) -> Node:
        """Build what stands in for a node that can't be reached any more."""
        self._ways[name] = NodeConnection(LatencyAverage(time.monotonic))
        return Node(name, UnreachablePbx(), {}, self._clock, self._roster.switch.handle_incoming)

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build a slot's desk at a node."""
        way, seen = self._ways[node.name], self._seen
        plan = self._plan(way, slot)
        pbx: Pbx = TimedPbx(node.pbx, way.latency, seen.metrics, node.name, slot)
        leased = FencedPbx(TracedPbx(pbx, seen.traces) if seen.traces else pbx, lease)
        tapes = FencedRecorder(way.recorder, lease) if way.recorder else None
        place = ShardContext(node.name, slot, leased, plan, tapes, lease, seen.metrics)
        return CallShard(place, self._clock, writer, self._errands)

    def listen(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
        grace_ms = self._settings.node_grace_s * 1000
        place, ari = node.shards[slot].context, self._ways[node.name].ari
        if ari is None:
            return never_connected(node, slot, grace_ms)
        listener = SlotListener(node, slot, grace_ms, replaced)
        return ari.events(place.endpoints.app, listener, may=lambda: place.lease.holds).run()

    async def watch_presence(self, node: Node, slot: int) -> None:
        """Know which agents are registered at a node, until cancelled, as who has a slot."""
        ari, presences = self._ways[node.name].ari, self._roster.presences
        if ari is None:
            return
        lease = node.shards[slot].context.lease
        presence = NodePresence(node.name, ari, self._roster.directory.is_trunk)
        presences[node.name] = presence
        try:
            await ari.events(PRESENCE_APP, presence, PRESENCE_UNUSED, lambda: lease.holds).run()
        finally:
            if presences.get(node.name) is presence:
                del presences[node.name]
            await presence.close()

    def _plan(self, way: NodeConnection, slot: int) -> EndpointTemplates:
        return EndpointTemplates(
            app=f"switchroom-{slot}",
            trunk=self._settings.trunk_endpoint,
            agent=self._settings.agent_endpoint,
            media_url=way.media_url,
            agents=self._roster.directory,
            policy=self._judge,
        )
