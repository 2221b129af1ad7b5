"""One life of an engine in a world: the real runtime on simulated surroundings, until it dies."""

import random
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from engine.ami.dtmf import DtmfListener
from engine.calls.model.call import Call
from engine.runtime.admission.settings import CallSettings
from engine.runtime.base.clock import Clock
from engine.runtime.base.context import EngineContext
from engine.runtime.base.ports import IoRunner as ErrandsPort
from engine.runtime.base.ports import Pbx
from engine.runtime.base.ports import Writer as WriterPort
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.io.runner import IoRunner
from engine.runtime.nodes.dtmf_log import DtmfLog
from engine.runtime.nodes.event_listener import SlotListener
from engine.runtime.nodes.node import Node
from engine.runtime.nodes.reaper import Reaper
from engine.runtime.ownership.takeover import WriterFactory, take_over
from engine.runtime.pbx.endpoints import EndpointTemplates
from engine.runtime.recording.mixmonitor import Ami
from engine.runtime.recording.recorder import Recorder, RecordingArchiver
from engine.runtime.recording.sweeper import RecordingSweeper
from engine.runtime.service import CallService
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.store.flush_scheduler import FlushScheduler
from engine.store.memory.store import MemoryStore
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import LifeClock, SimClock
from tests.harness.sim.connection import SimLine
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.media import SimLibrary
from tests.harness.sim.recorder import Filed, SimAmi, SimArchiver
from tests.harness.sim.store import SimStore
from tests.harness.sim.webhooks import SimApis, SimAsker, SimServers
from tests.sim.faults import Faults
from wire.media import Clip, Source
from wire.tree import DEFAULT_LIMITS

APP = "switchroom-0"
NODE = "pbx1"
LONGEST_MS = 240_000
GRACE_MS = 30_000


Hear = Callable[[Any], None]


class Surroundings(Struct, frozen=True):
    """What outlives an engine."""

    clock: SimClock
    rng: random.Random
    pbx: SimAsterisk
    memory: MemoryStore
    servers: SimServers
    at_hand: dict[Source, Clip]
    faults: Faults
    archive: Filed
    archive_url: str  # empty: nothing can be recorded
    overheard: DtmfLog | None  # what the next engine has heard while the last one lived


class Broken(Struct, frozen=True):
    """Ways to put broken parts in, which prove that the checks find them."""

    pbx: Callable[[Pbx], Pbx] = lambda pbx: pbx
    writer: Callable[[WriterPort], WriterPort] = lambda writer: writer
    errands: Callable[[ErrandsPort], ErrandsPort] = lambda errands: errands
    clock: Callable[[Clock], Clock] = lambda clock: clock
    hear: Callable[[Hear], Hear] = lambda hear: hear
    ami: Callable[[Ami], Ami] = lambda ami: ami
    cabinet: Callable[[RecordingArchiver], RecordingArchiver] = lambda cabinet: cabinet
    keys: Callable[[DtmfListener], DtmfListener] = lambda keys: keys  # heard over AMI


class Life:
    """An engine from its start to its death."""

    def __init__(self, around: Surroundings, number: int, broken: Broken) -> None:
        self.loop = SimLoop(around.clock)
        clock, loop = around.clock, self.loop
        self.line = SimLine(clock, around.pbx, loop, around.faults, around.rng)
        self.store = SimStore(around.memory, loop, around.faults, around.rng)
        self.clock = LifeClock(clock, loop)
        self.is_ready = False
        self.websockets = 0  # how many there have been
        self._is_connected = False  # as far as the engine knows
        self._around = around
        self._number = number
        self._broken = broken
        context = EngineContext(
            self.store,  # type: ignore[arg-type]  # as much of a Store as a life needs
            self.clock,
            random_bytes=random.Random(number).randbytes,
        )
        settings = CallSettings(
            1,
            LONGEST_MS,
            "+4721930000",
            around.archive_url,
            max_calls=1_000_000,
            max_calls_per_s=1_000_000,
        )
        self.switch = CallService(context, settings)

    def start(self) -> None:
        """Take the slot over, then listen."""
        self.loop.enter()
        self.loop.create_task(self._begin())

    def connect(self) -> None:
        """Have a websocket; that the last one is gone is known by then."""
        self.disconnect(self.websockets)
        self.websockets += 1
        self._is_connected = True
        self._around.pbx.is_listened_to = True
        self.hearing.on_connected()

    def disconnect(self, websocket: int) -> None:
        """Learn that a websocket is gone, unless that is known."""
        if websocket == self.websockets and self._is_connected:
            self._is_connected = False
            self.hearing.on_disconnected("sim")

    @property
    def calls(self) -> list[Call]:
        """Its live calls."""
        return [actor.call for actor in self.shard.actors.values()] if self.is_ready else []

    def pbx_of(self, _call: Call) -> SimAsterisk:
        """Give the PBX that has a call."""
        return self._around.pbx

    def die(self) -> None:
        """Lose everything in memory, at this very moment."""
        self.is_ready = self.line.is_alive = False
        self._around.pbx.is_listened_to = False
        self._around.pbx.manager.log_out(self.loop)
        self.loop.die()

    async def _begin(self) -> None:
        store = self.store
        rng = self._around.rng
        token = await store.claim(0, f"life{self._number}", 0)
        assert token is not None
        claimant = WriterFactory(rng.random, FlushScheduler(), self._fenced)
        owned = await take_over(store, 0, token, claimant)  # type: ignore[arg-type]  # likewise
        self.writer = owned.writer
        asker = SimAsker(self._around.clock, self.loop, self._around.servers)
        library = SimLibrary(self._around.clock, self.loop, self._around.at_hand)
        apis = SimApis(self._around.clock, self.loop, self._around.servers)
        flows = FlowCache(store, DEFAULT_LIMITS)
        errands = self._broken.errands(IoRunner(library, asker, flows, apis))
        pbx = self._broken.pbx(self.line)
        plan = EndpointTemplates(APP, "PJSIP/{number}@trunk", "PJSIP/{agent_id}", "http://media")
        recorder = self._recorder()
        place = ShardContext(NODE, 0, pbx, plan, recorder)
        clock = self._broken.clock(self.clock)
        log = self._around.overheard
        self.node = Node(NODE, pbx, self.clock, self.switch.handle_incoming, str, dtmf_log=log)
        if log is None:
            self._around.pbx.manager.log_in(self._broken.keys(self.node.dtmf_log), self.loop)
        self.shard = CallShard(place, clock, self._broken.writer(self.writer), errands, self.node)
        self.node.add_shard(0, self.shard)
        self.switch.nodes[NODE] = self.node
        self.hearing = SlotListener(self.node, 0, GRACE_MS, lambda _slot: None)
        self.line.hear = self._broken.hear(self.hearing.on_event)
        self.loop.create_task(self.writer.run())
        self.loop.create_task(Reaper(self.node, 15.0).run())
        self.loop.create_task(
            RecordingSweeper(NODE, pbx, self.node.shards, recorder, period_s=10.0).run()
        )
        for call in owned.calls:
            self.switch.adopt(call.node, 0, call.stored)
        self.is_ready = True
        if self.line.is_up:
            self.connect()

    def _recorder(self) -> Recorder:
        around, broken = self._around, self._broken
        chance = random.Random(f"record {self._number}")
        cabinet = SimArchiver(self.line, self.store, around.faults, around.archive, chance)
        ami = SimAmi(self.line, around.faults)
        return Recorder(self.line, broken.ami(ami), broken.cabinet(cabinet))

    def _fenced(self, _slot: int) -> None:
        self.loop.broken.append("fenced, with no other engine there")
