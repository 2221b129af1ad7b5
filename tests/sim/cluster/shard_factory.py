"""Builds the parts of an engine in a cluster: connections, shards, and listeners of slots."""

from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from engine.observe.metrics import Metrics
from engine.runtime.base.interfaces import Pbx
from engine.runtime.cluster.lease import Lease
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.slots import SlotListener
from engine.runtime.recording.recorder import Recorder
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.runtime.streams.node_streams import FencedStreams, NodeStreams
from engine.store.writer import Writer
from tests.harness.sim.clock import EngineClock
from tests.harness.sim.events import SimFaults
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.media import SimClipCache
from tests.harness.sim.recorder import SimArchiver
from tests.harness.sim.redis import SimLink
from tests.harness.sim.socket import SimSession
from tests.harness.sim.streams.node import open_streams
from tests.harness.sim.webhooks import SimActionClient, SimApiSender
from tests.sim.cluster.connections import CheckedAmi, CheckedConnection
from tests.sim.cluster.environment import ClusterEnvironment
from tests.sim.engine_run import GRACE_MS
from wire.shard import ShardId
from wire.tree import DEFAULT_LIMITS


def app_of(slot: int) -> str:
    """Return the Stasis app of a slot."""
    return f"switchroom-{slot}"


class SimShardFactory:
    """Implements `engine.runtime.ownership.shard_lifecycle.ShardFactory`."""

    def __init__(self, env: ClusterEnvironment, engine: str, loop: SimLoop, link: SimLink) -> None:
        self.connections: dict[str, CheckedConnection] = {}
        self.recorders: dict[str, Recorder] = {}
        self.streams: dict[str, NodeStreams] = {}
        self.meter = Metrics()
        self._env = env
        self._engine = engine
        self._loop = loop
        self._link = link
        self._clock = env.overrides.engine.clock(
            EngineClock(env.clock, loop, env.overrides.clock_offset_ms(engine))
        )
        self._io_runner = self._running()

    def open(self, name: str, faults: SimFaults) -> CheckedConnection:
        """Open the connections to a node."""
        env, overrides = self._env, self._env.overrides.engine
        connection = CheckedConnection(env, env.pbxs[name], self._loop, faults, self._engine)
        own_rng = Random(f"record {self._engine} {name}")
        archiver = SimArchiver(connection, self._link, faults, env.archive, own_rng)
        ami = overrides.ami(CheckedAmi(connection, faults, env))
        self.connections[name] = connection
        self.recorders[name] = Recorder(connection, ami, overrides.archiver(archiver))
        return connection

    def open_streams(self, name: str, pbx: Pbx, shards: dict[int, CallShard]) -> NodeStreams:
        """Read the reports of a node's gateway."""
        wrap = self._env.overrides.engine.reports
        streams = open_streams(pbx, self._env.gateways[name], shards, self._loop, wrap)
        self.streams[name] = streams
        return streams

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build the shard of a slot at a node."""
        overrides = self._env.overrides
        plan = EndpointTemplates(
            app_of(slot), "PJSIP/{number}@trunk", "PJSIP/{agent_id}", "http://media"
        )
        pbx = overrides.fence_pbx(node.pbx, lease)
        recorder = overrides.fence_recorder(self.recorders[node.name], lease)
        streams = FencedStreams(self.streams[node.name], lease, app_of(slot))
        place = ShardContext(
            node.name,
            slot,
            pbx,
            plan,
            recorder,
            overrides.lease(lease),
            self.meter,
            streams=overrides.engine.streams(streams),
        )
        return overrides.shard(
            place,
            self._clock,
            overrides.engine.writer(writer),
            self._io_runner,
            node,
            max_log_lines=overrides.engine.max_log_lines(self._env.max_log_lines),
        )

    def placeholder(self, name: str) -> Node:
        """Fail: the nodes of a world do not change."""
        raise AssertionError(name)

    def listen(
        self, node: Node, slot: int, replaced: Callable[[ShardId], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
        connection, lease = self.connections[node.name], node.shards[slot].context.lease
        listener = self._env.overrides.listener(SlotListener(node, slot, GRACE_MS, replaced))
        session = SimSession(
            connection, connection.node, app_of(slot), listener, lambda: lease.holds
        )
        return session.run()

    def _running(self) -> IoRunner:
        env = self._env
        action_client = SimActionClient(env.clock, self._loop, env.servers)
        clip_cache = SimClipCache(env.clock, self._loop, env.cached_media)
        client = env.overrides.action_client(action_client, self._engine)
        apis = SimApiSender(env.clock, self._loop, env.servers)
        flows = FlowCache(self._link.flow, DEFAULT_LIMITS)
        return env.overrides.engine.io_runner(
            IoRunner(clip_cache, client, flows, apis, DigitSealer(("sim",), env.rng.randbytes))
        )
