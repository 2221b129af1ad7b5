"""One engine of several: the real lease manager, shards and nodes on simulated connections."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random

from engine.calls.model.call import Call
from engine.calls.model.clock_shift import move_times
from engine.calls.model.events import DigitPressed
from engine.calls.model.storage_format import FORMAT
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.call_service import CallService
from engine.runtime.cluster.context import ClusterContext
from engine.runtime.cluster.lease_manager import LeaseManager
from engine.runtime.cluster.membership import Membership
from engine.runtime.cluster.node_duties import NodeUpkeep, Work
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.reaper import Reaper
from engine.runtime.pbx_nodes.refers import no_extensions
from engine.runtime.recording.leftover_recordings import RecordingSweeper
from engine.runtime.shard.shard import CallShard
from engine.store.errors import StoreDown
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import EngineClock
from tests.harness.sim.events import SimFaults
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.redis import SimLink
from tests.sim.cluster.connections import CheckedConnection
from tests.sim.cluster.environment import ClusterEnvironment
from tests.sim.cluster.later_version import LaterVersionStore
from tests.sim.cluster.shard_factory import SimShardFactory
from tests.sim.engine_run import MAX_CALL_MS

REAP_S = 15.0
ARCHIVE_S = 10.0
LEAVE_S = 3.0
MAX_HEARERS = 2  # as engine.rpc has it
RPC_MS = 1.0


class Engine:
    """An engine process, composed as `engine.app.engine` does, on simulated connections."""

    def __init__(
        self,
        env: ClusterEnvironment,
        name: str,
        faults: SimFaults,
        others: "Callable[[], Sequence[Engine]]",
    ) -> None:
        self.name = name
        self.loop = SimLoop(env.clock)
        self._others = others  # all live engines
        self._upkeep: dict[str, NodeUpkeep] = {}
        self.is_frozen = False
        self.is_leaving = False
        self.born_ms = env.clock.at_ms
        self.died_ms: float | None = None
        self._env = env
        clock = EngineClock(env.clock, self.loop, env.overrides.clock_offset_ms(name))
        self.link = SimLink(env.redis, self.loop, faults, env.rng.random)
        store = env.overrides.link(self.link)
        stored_format = env.overrides.stored_format(name)
        if stored_format != FORMAT:
            store = LaterVersionStore(store, stored_format)
        self.peers = Membership(name, stored_format)
        self.shards = SimShardFactory(env, name, self.loop, self.link)
        context = EngineContext(
            store, clock, self.shards.meter, env.rng.random, Random(name).randbytes, engine=name
        )
        shards = ShardMap(env.slots, sorted(env.pbxs))
        settings = AdmissionConfig(
            shards,
            MAX_CALL_MS,
            "+4721930000",
            env.archive_url,
            max_calls=env.capacity,
            max_calls_per_s=1_000_000,
        )
        self.service = CallService(context, settings, cluster=self.peers)
        self.tasks = Tasks(self._failed)
        self.lifecycle = ShardLifecycle(context, self.service, self.shards, self.tasks)
        cluster = ClusterContext(
            store,
            self.peers,
            env.overrides.shards(self.lifecycle),
            shards,
            env.timings,
            self.loop.time,
            self.shards.meter,
            env.capacity,
        )
        self.lease_manager = LeaseManager(cluster, f"http://{name}")
        self.reachability = self.lease_manager.reachability
        for pbx in env.pbxs:
            self.shards.open(pbx, faults)

    @property
    def is_ready(self) -> bool:
        """Return whether it can serve requests."""
        return not (self.loop.is_dead or self.is_frozen or self.is_leaving)

    @property
    def calls(self) -> list[Call]:
        shards = (shard for node in self.service.nodes.values() for shard in node.shards.values())
        return [live_call.call for shard in shards for live_call in shard.calls.values()]

    def pbx_of(self, call: Call) -> SimAsterisk:
        """Return the PBX of a call."""
        return self._env.pbxs[call.id.split("-")[1]]

    def start(self) -> None:
        self._env.clock.soon(self._begin, self.loop)

    def stop(self) -> None:
        """Hand all shards over and exit, as on SIGTERM."""
        self.is_leaving = True
        self.loop.create_task(self._leave())

    def die(self) -> None:
        """Lose everything in memory at once; all sockets close."""
        self.loop.die()
        self.died_ms = self._env.clock.at_ms
        for connection in self.shards.connections.values():
            connection.is_alive = False
            connection.node.manager.log_out(self.loop)
            for socket in connection.sockets:
                connection.node.closed(socket)
        for gateway in self._env.gateways.values():
            gateway.forget(self.loop)

    def _begin(self) -> None:
        arrive = self.service.handle_incoming
        peer_digits = self._env.overrides.peer_digits(self._ask_for_digits)
        for name, connection in self.shards.connections.items():
            offset_ms = self._env.overrides.clock_offset_ms(self.name)
            clock = EngineClock(self._env.clock, self.loop, offset_ms)
            shards: dict[int, CallShard] = {}
            streams = self.shards.open_streams(name, connection, shards)
            node = Node(
                name,
                self._env.overrides.engine.pbx(connection),
                clock,
                arrive,
                no_extensions,
                peer_digits=peer_digits,
                shards=shards,
                stream_reports=self._env.overrides.stream_reports(streams.reports),
            )
            recorder = self.shards.recorders[name]
            self.reachability.add_node(name)
            record = partial(self.reachability.record, name)
            sweeper = RecordingSweeper(
                name, node.pbx, node.shards, recorder.archive, period_s=ARCHIVE_S
            )
            reaper = Reaper(node, REAP_S, self.shards.meter)
            work: dict[str, list[Work]] = {
                "owner": [partial(connection.pulse, record), reaper.run, sweeper.run],
                "stranger": [partial(connection.pulse, record, is_rare=True)],
                "listener": [partial(self._listen, node, connection)],
            }
            self._upkeep[name] = NodeUpkeep(name, self.tasks, work)
            self.lifecycle.add_node(node)
        self.tasks.start("lease manager", self.lease_manager.run())
        self.tasks.start("duties", self._follow_duties())

    async def _follow_duties(self) -> None:
        """Connect to the nodes that concern this engine, as `engine.app.node_manager` does."""
        duties = self.lease_manager.duties
        while True:
            await duties.changed.wait()
            duties.changed.clear()
            for name, upkeep in self._upkeep.items():
                upkeep.apply(duties.of(name))

    async def _listen(self, node: Node, connection: CheckedConnection) -> None:
        """Hear a node's digits until cancelled."""
        manager = connection.node.manager
        listener = self._env.overrides.engine.dtmf(node.recent_digits)
        manager.log_in(listener, self.loop)
        try:
            await asyncio.Event().wait()
        finally:
            manager.log_out(self.loop)
            listener.on_disconnected()

    async def _ask_for_digits(self, node: str, legs: Sequence[str]) -> Sequence[DigitPressed]:
        """Return the digits that other engines have heard, as `rpc.peers.node_knowledge` does."""
        urls = self.peers.hearers(node)[:MAX_HEARERS]
        found: list[DigitPressed] = []
        for other in self._others():
            if f"http://{other.name}" in urls and other.is_ready:
                await self.loop.sleep(RPC_MS)
                offset_ms = self.service.clock_offset_ms - other.service.clock_offset_ms
                logged = other.service.nodes[node].logged_digits()
                digits = (each for leg in legs for each in logged.get(leg, ()))
                found += [move_times(each, offset_ms) for each in digits]
        return found

    async def _leave(self) -> None:
        with suppress(TimeoutError, StoreDown):
            async with asyncio.timeout(LEAVE_S):
                await self.lease_manager.leave()
        await self.tasks.close()
        for node in self.service.nodes.values():
            await node.close()
        for streams in self.shards.streams.values():
            await streams.close()
        self.die()

    def _failed(self, error: BaseException) -> None:
        self.loop.task_errors.append(f"{self.name} ended: {error!r}")
