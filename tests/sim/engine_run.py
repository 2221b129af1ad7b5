"""One run of an engine in a world: the real runtime on simulated connections, until it dies."""

import random
from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from engine.ami.events import DtmfListener
from engine.calls.model.call import Call
from engine.calls.step import step
from engine.observe.metrics import Metrics
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.base.clock import Clock
from engine.runtime.base.context import EngineContext
from engine.runtime.base.interfaces import Pbx, StreamRunner
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.command_runner import IoRunner
from engine.runtime.io.digit_sealer import DigitSealer
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.ownership.shard_loader import WriterFactory, load_shard
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.reaper import Reaper
from engine.runtime.pbx_nodes.recent_digits import RecentDigits
from engine.runtime.pbx_nodes.refers import no_extensions
from engine.runtime.pbx_nodes.slots import SlotListener
from engine.runtime.recording.leftover_recordings import RecordingSweeper
from engine.runtime.recording.recorder import Ami, Recorder, RecordingArchiver
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.runtime.shard.step_runner import Core
from engine.runtime.streams.node_streams import FencedStreams
from engine.store.writer import Writer
from tests.harness.memory_store.store import MemoryStore
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import EngineClock, SimClock
from tests.harness.sim.connection import SimConnection
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.media import SimClipCache
from tests.harness.sim.recorder import Archive, SimAmi, SimArchiver
from tests.harness.sim.store import SimStore
from tests.harness.sim.streams.gateway import SimGateway
from tests.harness.sim.streams.node import WrapReports, open_streams
from tests.harness.sim.webhooks import SimActionClient, SimApiSender, SimServers
from tests.sim.faults import Faults
from wire.media import Clip, Source
from wire.shard import ShardId
from wire.tree import DEFAULT_LIMITS

APP = "switchroom-0"
NODE = "pbx1"
SHARD = ShardId(NODE, 0)
MAX_CALL_MS = 240_000
GRACE_MS = 30_000


OnEvent = Callable[[Any], None]


class _Unlimited:
    """The lease of an engine that shares its shard with no other."""

    token = 0
    holds = True
    unseen_ms = 0


class Environment(Struct, frozen=True):
    """What outlives an engine."""

    clock: SimClock
    rng: random.Random
    pbx: SimAsterisk
    memory: MemoryStore
    servers: SimServers
    cached_media: dict[Source, Clip]
    faults: Faults
    archive: Archive
    archive_url: str  # empty: recording is off
    recent_digits: RecentDigits | None  # shared with the next engine; None: each has its own
    gateway: SimGateway
    max_log_lines: int
    core: Core = step
    metrics: Metrics = field(default_factory=Metrics)  # of all engines; they are not read


class PartOverrides(Struct, frozen=True):
    """Replacements for parts of an engine, to plant faults."""

    pbx: Callable[[Pbx], Pbx] = lambda pbx: pbx
    writer: Callable[[Writer], Writer] = lambda writer: writer
    io_runner: Callable[[IoRunner], IoRunner] = lambda io_runner: io_runner
    clock: Callable[[Clock], Clock] = lambda clock: clock
    on_event: Callable[[OnEvent], OnEvent] = lambda on_event: on_event
    ami: Callable[[Ami], Ami] = lambda ami: ami
    archiver: Callable[[RecordingArchiver], RecordingArchiver] = lambda archiver: archiver
    dtmf: Callable[[DtmfListener], DtmfListener] = lambda listener: listener  # over AMI
    reports: WrapReports = lambda listener: listener  # of gateways
    streams: Callable[[StreamRunner], StreamRunner] = lambda streams: streams
    max_log_lines: Callable[[int], int] = lambda limit: limit


class EngineRun:
    """One engine process from its start to its death."""

    def __init__(self, env: Environment, number: int, overrides: PartOverrides) -> None:
        self.loop = SimLoop(env.clock)
        clock, loop = env.clock, self.loop
        self.connection = SimConnection(clock, env.pbx, loop, env.faults, env.rng)
        self.store = SimStore(env.memory, loop, env.faults, env.rng)
        self.clock = EngineClock(clock, loop)
        self.is_ready = False
        self.websockets = 0  # opened so far
        self._is_connected = False  # from the engine's point of view
        self._env = env
        self._number = number
        self._overrides = overrides
        context = EngineContext(
            self.store,  # type: ignore[arg-type]  # implements what one engine uses of Store
            self.clock,
            metrics=env.metrics,
            random_bytes=random.Random(number).randbytes,
        )
        settings = AdmissionConfig(
            ShardMap(1, [NODE]),
            MAX_CALL_MS,
            "+4721930000",
            env.archive_url,
            max_calls=1_000_000,
            max_calls_per_s=1_000_000,
        )
        self.service = CallService(context, settings)

    def start(self) -> None:
        """Take the shard over, then listen."""
        self.loop.enter()
        self.loop.create_task(self._begin())

    def connect(self) -> None:
        """Open a websocket; by then the engine knows that the last one is closed."""
        self.disconnect(self.websockets)
        self.websockets += 1
        self._is_connected = True
        self._env.pbx.is_listened_to = True
        self.listener.on_connected()

    def disconnect(self, websocket: int) -> None:
        """Notice that a websocket is closed, unless that is known."""
        if websocket == self.websockets and self._is_connected:
            self._is_connected = False
            self.listener.on_disconnected("sim", 0)

    @property
    def calls(self) -> list[Call]:
        return [live_call.call for live_call in self.shard.calls.values()] if self.is_ready else []

    def pbx_of(self, _call: Call) -> SimAsterisk:
        """Return the PBX of a call."""
        return self._env.pbx

    def die(self) -> None:
        """Lose everything in memory at once."""
        self.is_ready = self.connection.is_alive = False
        self._env.pbx.is_listened_to = False
        self._env.pbx.manager.log_out(self.loop)
        self._env.gateway.forget(self.loop)
        self.loop.die()

    async def _begin(self) -> None:
        store = self.store
        rng = self._env.rng
        token = await store.claim(SHARD, f"engine{self._number}", 0)
        assert token is not None
        claimant = WriterFactory(rng.random, self._fenced, self._env.metrics)
        owned = await load_shard(store, SHARD, token, claimant)  # type: ignore[arg-type]  # implements what one engine uses of Store
        self.writer = owned.writer
        action_client = SimActionClient(self._env.clock, self.loop, self._env.servers)
        clip_cache = SimClipCache(self._env.clock, self.loop, self._env.cached_media)
        apis = SimApiSender(self._env.clock, self.loop, self._env.servers)
        flows = FlowCache(store.flow, DEFAULT_LIMITS)
        io_runner = self._overrides.io_runner(
            IoRunner(clip_cache, action_client, flows, apis, DigitSealer(("sim",), rng.randbytes))
        )
        pbx = self._overrides.pbx(self.connection)
        plan = EndpointTemplates(APP, "PJSIP/{number}@trunk", "PJSIP/{agent_id}", "http://media")
        recorder = self._recorder()
        shards: dict[int, CallShard] = {}
        streams = open_streams(
            self.connection, self._env.gateway, shards, self.loop, self._overrides.reports
        )
        place = ShardContext(
            NODE,
            0,
            pbx,
            plan,
            recorder,
            metrics=self._env.metrics,
            streams=self._overrides.streams(FencedStreams(streams, _Unlimited(), APP)),
        )
        clock = self._overrides.clock(self.clock)
        log = self._env.recent_digits
        self.node = Node(
            NODE,
            pbx,
            self.clock,
            self.service.handle_incoming,
            no_extensions,
            recent_digits=log,
            shards=shards,
            stream_reports=streams.reports,
        )
        if log is None:
            self._env.pbx.manager.log_in(self._overrides.dtmf(self.node.recent_digits), self.loop)
        self.shard = CallShard(
            place,
            clock,
            self._overrides.writer(self.writer),
            io_runner,
            self.node,
            core=self._env.core,
            max_log_lines=self._overrides.max_log_lines(self._env.max_log_lines),
        )
        self.node.add_shard(0, self.shard)
        self.service.nodes[NODE] = self.node
        self.listener = SlotListener(self.node, 0, GRACE_MS, lambda _shard: None)
        self.connection.on_event = self._overrides.on_event(self.listener.on_event)
        self.loop.create_task(self.writer.run())
        self.loop.create_task(Reaper(self.node, 15.0, self._env.metrics).run())
        self.loop.create_task(
            RecordingSweeper(NODE, pbx, self.node.shards, recorder.archive, period_s=10.0).run()
        )
        for call in owned.calls:
            self.service.adopt(SHARD, call)
        for ended in owned.unsent:
            self.shard.send_last_webhooks(ended)
        self.is_ready = True
        if self.connection.is_up:
            self.connect()

    def _recorder(self) -> Recorder:
        env, overrides = self._env, self._overrides
        own_rng = random.Random(f"record {self._number}")
        archiver = SimArchiver(self.connection, self.store, env.faults, env.archive, own_rng)
        ami = SimAmi(self.connection, env.faults)
        return Recorder(self.connection, overrides.ami(ami), overrides.archiver(archiver))

    def _fenced(self, _shard: ShardId) -> None:
        self.loop.task_errors.append("fenced, with no other engine there")
