"""An engine's own slots with one node, over a store in memory: desks come and go for real."""

import asyncio
from collections.abc import Callable

from engine.runtime.admission.limits import RateLimiter
from engine.runtime.admission.settings import CallSettings
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.lease import Lease
from engine.runtime.nodes.node import Node
from engine.runtime.ownership.slot_owner import SlotOwner
from engine.runtime.pbx.fenced import FencedPbx
from engine.runtime.service import CallService
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer
from tests.harness.until import until
from tests.unit.calls.harness.builders import outbound
from tests.unit.runtime.harness.manual_store import HandStore
from tests.unit.runtime.harness.recording_pbx import RecordingPbx
from tests.unit.runtime.harness.shard_bench import PLAN, HandClock, HandErrands

SLOT = 0


class Builder:
    """Builds real desks, and ears that note when they open and close."""

    def __init__(self, clock: HandClock) -> None:
        self.notes: list[str] = []
        self._clock = clock

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build a desk."""
        place = ShardContext(node.name, slot, FencedPbx(node.pbx, lease), PLAN, lease=lease)
        return CallShard(place, self._clock, writer, HandErrands(), node)

    async def listen(self, node: Node, slot: int, replaced: Callable[[int], None]) -> None:
        """Listen."""
        assert callable(replaced)
        await self._noted(f"hear {node.name} {slot}")

    async def watch_presence(self, node: Node, slot: int) -> None:
        """Watch."""
        await self._noted(f"watch {node.name} {slot}")

    async def _noted(self, what: str) -> None:
        self.notes.append(what)
        try:
            await asyncio.Event().wait()
        finally:
            self.notes.append(f"no {what}")


class House:
    """Own slots with one node, and a store with what another engine has left there."""

    def __init__(self) -> None:
        self.store = HandStore()
        self.now_s = 0.0
        clock = HandClock()
        rules = CallSettings(2, 3_600_000)
        self.switch = CallService(self.store, clock, RateLimiter(clock, 100, 100), rules)
        self.pbx = RecordingPbx()
        self.node = Node("pbx1", self.pbx, clock, self.switch.handle_incoming, str)
        self.switch.nodes["pbx1"] = self.node
        self.builder = Builder(clock)
        self.faults: list[BaseException] = []
        self.tasks = Tasks(self.faults.append)
        self.slots = SlotOwner(self.store, self.switch, self.builder, self.tasks, lambda: 0.0)

    async def lease(self, slot: int = SLOT) -> Lease:
        """Claim a slot."""
        token = await self.store.claim(slot, "me", 0)
        assert token is not None
        return Lease(token, 10.0, lambda: self.now_s)

    async def live(self) -> list[str]:
        """List the calls that the store has."""
        return [call async for call, _node, _state in self.store.live(SLOT)]

    async def begin(self) -> str:
        """Take the slot and begin a call on its desk; returns its id when it is stored."""
        await self.slots.take(SLOT, await self.lease())
        desk = self.node.shards[SLOT]
        desk.resume()
        call = desk.start_call(outbound()).call.id

        async def is_stored() -> bool:
            return call in await self.live()

        await until(is_stored, what="the call to be stored")
        return call
