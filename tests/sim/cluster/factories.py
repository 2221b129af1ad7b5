"""What an engine of a world with several is built of: nodes, desks, and ears for each slot."""

from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from engine.observe.metrics import Metrics
from engine.runtime.base.ports import IoRunner as ErrandsPort
from engine.runtime.cluster.lease import Lease
from engine.runtime.io.flow_cache import FlowCache
from engine.runtime.io.runner import IoRunner
from engine.runtime.nodes.event_listener import SlotListener
from engine.runtime.nodes.node import Node
from engine.runtime.pbx.endpoints import EndpointTemplates
from engine.runtime.recording.recorder import Recorder
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer
from tests.harness.sim.clock import LifeClock
from tests.harness.sim.events import SimWeather
from tests.harness.sim.loop import SimLoop
from tests.harness.sim.media import SimLibrary
from tests.harness.sim.recorder import SimArchiver
from tests.harness.sim.redis import SimLink
from tests.harness.sim.socket import SimSession
from tests.harness.sim.webhooks import SimApis, SimAsker
from tests.sim.cluster.environment import Ground
from tests.sim.cluster.lines import WatchedAmi, WatchedLine
from tests.sim.engine_run import GRACE_MS
from wire.tree import DEFAULT_LIMITS


def app_of(slot: int) -> str:
    """Name the Stasis app of a slot."""
    return f"switchroom-{slot}"


class Desks:
    """Implements `engine.runtime.ownership.slot_owner.ShardFactory` on simulated surroundings."""

    def __init__(self, ground: Ground, engine: str, loop: SimLoop, link: SimLink) -> None:
        self.lines: dict[str, WatchedLine] = {}
        self.recorders: dict[str, Recorder] = {}
        self.meter = Metrics()
        self._ground = ground
        self._engine = engine
        self._loop = loop
        self._link = link
        self._clock = ground.cracked.parts.clock(LifeClock(ground.clock, loop))
        self._errands = self._running()

    def open(self, name: str, skies: SimWeather) -> WatchedLine:
        """Have ways to a node."""
        ground, parts = self._ground, self._ground.cracked.parts
        line = WatchedLine(ground, ground.pbxs[name], self._loop, skies, self._engine)
        chance = Random(f"record {self._engine} {name}")
        cabinet = SimArchiver(line, self._link, skies, ground.archive, chance)
        ami = parts.ami(WatchedAmi(line, skies, ground))
        self.lines[name] = line
        self.recorders[name] = Recorder(line, ami, parts.cabinet(cabinet))
        return line

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build a slot's desk at a node."""
        cracked = self._ground.cracked
        plan = EndpointTemplates(
            app_of(slot), "PJSIP/{number}@trunk", "PJSIP/{agent_id}", "http://media"
        )
        leased = cracked.leased(node.pbx, lease)
        tapes = cracked.taped(self.recorders[node.name], lease)
        place = ShardContext(node.name, slot, leased, plan, tapes, cracked.lease(lease), self.meter)
        return cracked.shard(place, self._clock, cracked.parts.writer(writer), self._errands, node)

    def placeholder(self, name: str) -> Node:
        """Fail: the nodes of a world do not change."""
        raise AssertionError(name)

    def listen(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
        line, lease = self.lines[node.name], node.shards[slot].context.lease
        listener = self._ground.cracked.listener(SlotListener(node, slot, GRACE_MS, replaced))
        session = SimSession(line, line.node, app_of(slot), listener, lambda: lease.holds)
        return session.run()

    async def watch_presence(self, node: Node, slot: int) -> None:
        """Watch no agents: the simulated ones are always there."""

    def _running(self) -> ErrandsPort:
        ground = self._ground
        asker = SimAsker(ground.clock, self._loop, ground.servers)
        library = SimLibrary(ground.clock, self._loop, ground.at_hand)
        asks = ground.cracked.asker(asker, self._engine)
        apis = SimApis(ground.clock, self._loop, ground.servers)
        flows = FlowCache(self._link, DEFAULT_LIMITS)
        return ground.cracked.parts.errands(IoRunner(library, asks, flows, apis))
