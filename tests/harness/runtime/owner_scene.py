"""A shard owner with one node and real shards, over a memory store."""

import asyncio
from collections.abc import Callable

from engine.app.shard_factory import UnreachablePbx
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.call_service import CallService
from engine.runtime.cluster.lease import Lease
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.ownership.shard_lifecycle import ShardLifecycle
from engine.runtime.pbx.wrappers import FencedPbx
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.refers import no_extensions
from engine.runtime.policy.leg_counter import LegCounter
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer
from tests.harness.calls.builders import outbound
from tests.harness.runtime.manual_store import ManualStore
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ENDPOINTS, ManualClock, ManualIoRunner
from tests.harness.until import until
from wire.shard import ShardId

SLOT = 0
SHARD = ShardId("pbx1", SLOT)


class FakeShardFactory:
    """Makes real shards, and listeners that record their start and end."""

    def __init__(self, clock: ManualClock, legs: LegCounter) -> None:
        self.notes: list[str] = []
        self.placeholders: list[str] = []
        self.io = ManualIoRunner()
        self._clock = clock
        self._legs = legs

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Make a shard."""
        pbx = FencedPbx(node.pbx, lease)
        place = ShardContext(node.name, slot, pbx, ENDPOINTS, lease=lease, legs=self._legs)
        return CallShard(place, self._clock, writer, self.io, node)

    def placeholder(self, name: str) -> Node:
        """Make a node that is never connected."""
        self.placeholders.append(name)
        return Node(
            name, UnreachablePbx(), self._clock, lambda _shard, _channel: None, no_extensions
        )

    async def listen(self, node: Node, slot: int, replaced: Callable[[ShardId], None]) -> None:
        """Listen."""
        assert callable(replaced)
        await self._record(f"hear {node.name} {slot}")

    async def _record(self, what: str) -> None:
        self.notes.append(what)
        try:
            await asyncio.Event().wait()
        finally:
            self.notes.append(f"no {what}")


class OwnerScene:
    """A shard owner with one node, and a store with what another engine left."""

    def __init__(self) -> None:
        self.store = ManualStore()
        self.now_s = 0.0
        clock = self.clock = ManualClock()
        context = EngineContext(self.store, clock, random=lambda: 0.0, engine="pbx-7")
        settings = AdmissionConfig(
            ShardMap(2, ["pbx1"]), 3_600_000, max_calls=100, max_calls_per_s=100
        )
        self.service = CallService(context, settings)
        self.pbx = RecordingPbx()
        self.node = Node("pbx1", self.pbx, clock, self.service.handle_incoming, no_extensions)
        self.service.nodes["pbx1"] = self.node
        self.factory = FakeShardFactory(clock, self.service.node_selection.legs)
        self.suspects: list[ShardId] = []  # shards that another engine may own
        self.faults: list[BaseException] = []
        self.tasks = Tasks(self.faults.append)
        self.owner = ShardLifecycle(context, self.service, self.factory, self.tasks)

    async def lease(self, shard: ShardId = SHARD) -> Lease:
        """Claim a shard."""
        token = await self.store.claim(shard, "me", 0)
        assert token is not None
        return Lease(token, 10.0, lambda: self.now_s, lambda: self.suspects.append(shard))

    async def live(self) -> list[str]:
        """List the stored live calls."""
        return [call async for call, _node, _state in self.store.live(SHARD)]

    async def begin(self, action: object = None) -> str:
        """Take the shard and start an outbound call; return its id once it is stored."""
        await self.owner.take(SHARD, await self.lease())
        shard = self.node.shards[SLOT]
        shard.resume()
        call = shard.start_call(outbound(action)).call.id

        async def is_stored() -> bool:
            return call in await self.live()

        await until(is_stored, what="the call to be stored")
        return call
