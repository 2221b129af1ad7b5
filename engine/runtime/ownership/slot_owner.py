"""The desks of this engine's slots, on every node: opened and closed as leases come and go."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from time import perf_counter
from typing import Any, Protocol

import structlog

from engine.observe.metrics import Metrics
from engine.runtime.admission.limits import TRUNK
from engine.runtime.base.ports import CallbackDispatcher, NullDispatcher
from engine.runtime.base.tasks import Tasks
from engine.runtime.cluster.lease import Lease
from engine.runtime.nodes.node import Node
from engine.runtime.ownership.takeover import ClaimedCall, WriterFactory, take_over
from engine.runtime.service import CallService
from engine.runtime.shard.shard import CallShard
from engine.store.flush_scheduler import FlushScheduler
from engine.store.store import Store
from engine.store.writer import Writer


class ShardFactory(Protocol):
    """How a slot's desk at a node is made, and how its events are heard."""

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Make a desk."""

    async def watch_presence(self, node: Node, slot: int) -> None:
        """Know which agents are registered at a node, until cancelled, as who has a slot."""

    def listen(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""


log = structlog.get_logger()
DRAIN_TIMEOUT_S = 1.0
PRESENCE_SLOT = 0  # who has it hears who registers: one engine does, and every slot has one


class SlotOwner:
    """Implements `holding.Slots`."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        store: Store,
        switch: CallService,
        builder: ShardFactory,
        tasks: Tasks,
        random: Callable[[], float],
        *,
        meter: Metrics | None = None,
        post: CallbackDispatcher = NullDispatcher(),  # noqa: B008 - it has no state
    ) -> None:
        self._post = post
        self.on_lease_suspect: Callable[[int], None] = lambda _slot: None  # a slot may be another's
        self._store = store
        self._switch = switch
        self._builder = builder
        self._tasks = tasks
        self._meter = meter or Metrics()
        self._claimant = WriterFactory(random, FlushScheduler(), self._doubted, self._meter, post)
        self.on_unknown_node: Callable[[str], None] = lambda _node: (
            None
        )  # a call's node is not known
        self._writers: dict[int, Writer] = {}
        self._leases: dict[int, Lease] = {}

    async def take(self, slot: int, lease: Lease) -> None:
        """Go on with a slot's calls; raises StoreDown."""
        began_s = perf_counter()
        owned = await take_over(self._store, slot, lease.token, self._claimant)
        self._meter.store.takeover_duration.series(slot).observe(perf_counter() - began_s)
        for stored in owned.calls:
            self._meter.calls.taken_over.table(stored.node)[str(slot)] += 1
        log.info("slot taken", slot=slot, calls=len(owned.calls))
        self._open(slot, lease, owned.writer, owned.calls)

    async def restore(self, slot: int, lease: Lease) -> None:
        """Store a slot's calls, which the store has lost, from memory, and go on."""
        kept = [each for node in self._switch.nodes.values() for each in _kept(node, slot)]
        waiting = {desk.context.node: desk.pause_buffer.events for desk in self._desks(slot)}
        writer = self._claimant.writer(self._store, slot, lease.token)
        writer.take_pending_from(self._writers[slot])  # the end of a call is nowhere else
        self.drop(slot)
        self._open(slot, lease, writer, kept)
        for desk in self._desks(slot):
            desk.inherit_events(waiting.get(desk.context.node, ()))
            desk.store_again(writer.pending_calls)

    def last_commit(self, slot: int) -> int:
        """Give the number of the last batch that was answered."""
        writer = self._writers.get(slot)
        return writer.last_number if writer else 0

    def rewrite_lost(self, slot: int) -> None:
        """Store anew what the store has lost; what waits to be stored is whole by itself."""
        if writer := self._writers.get(slot):
            writer.reset_numbering()
            for desk in self._desks(slot):
                desk.store_again(writer.pending_calls)

    async def drain(self, slot: int) -> None:
        """Take no more in, and wait, not for long, until what was decided is stored."""
        self._switch.releasing.add(slot)
        for desk in self._desks(slot):
            desk.pause()
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await self._writers[slot].drain()
                await self._post.drain(slot)
        except TimeoutError:
            log.warning("left with changes unstored", slot=slot)

    def pause(self, slot: int) -> None:
        """Stand still; nobody listens, so that the PBX offers new calls to other slots."""
        for node in self._switch.nodes.values():
            self._tasks.cancel(_ears(slot, node))
            node.pause_slot(slot)

    def resume(self, slot: int) -> None:
        """Listen again; what was missed is recovered."""
        for node in self._switch.nodes.values():
            self._listen(node, slot)

    def drop(self, slot: int) -> None:
        """Leave a slot's calls to its next owner."""
        self._switch.releasing.discard(slot)
        self._tasks.cancel(_pen(slot))
        self._post.close_slot(slot)
        self._writers.pop(slot, None)
        self._leases.pop(slot, None)
        for node in self._switch.nodes.values():
            self._tasks.cancel(_ears(slot, node))
            node.remove_shard(slot)

    def add_node(self, node: Node) -> None:
        """Open a node's desks in the slots held; calls of one with its name go on at this one."""
        before = self._switch.nodes.get(node.name)
        self._switch.nodes[node.name] = node
        for slot, lease in self._leases.items():
            kept = _kept(before, slot)
            if before:
                before.remove_shard(slot)
            node.add_shard(slot, self._builder.shard(node, slot, lease, self._writers[slot]))
            for stored in kept:
                self._switch.adopt(stored, slot)
            self._listen(node, slot)

    def remove_node(self, node: Node) -> None:
        """Close a node's desks."""
        for slot in self._leases:
            self._tasks.cancel(_ears(slot, node))
            node.remove_shard(slot)
        self._switch.nodes.pop(node.name, None)

    def calls(self, slot: int) -> int:
        """Count a slot's live calls."""
        return sum(len(desk.actors) for desk in self._desks(slot))

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node, and, as TRUNK, the legs on the trunk."""
        of_nodes = {node.name: node.live_calls for node in self._switch.nodes.values()}
        return {**of_nodes, TRUNK: self._switch.placement.trunk_legs}

    def _open(
        self, slot: int, lease: Lease, writer: Writer, calls: Collection[ClaimedCall]
    ) -> None:
        for name in {stored.node for stored in calls} - self._switch.nodes.keys():
            self.on_unknown_node(name)
        self._writers[slot], self._leases[slot] = writer, lease
        self._post.open_slot(slot, lease)
        self._tasks.start(_pen(slot), writer.run())
        for node in self._switch.nodes.values():
            node.add_shard(slot, self._builder.shard(node, slot, lease, writer))
        for stored in calls:
            self._switch.adopt(stored, slot)
        self.resume(slot)

    def _listen(self, node: Node, slot: int) -> None:
        ears = _ears(slot, node)
        self._tasks.cancel(ears)
        self._tasks.start(ears, self._builder.listen(node, slot, self._doubted))
        if slot == PRESENCE_SLOT:
            self._tasks.start(ears, self._builder.watch_presence(node, slot))

    def _doubted(self, slot: int) -> None:
        self.on_lease_suspect(slot)

    def _desks(self, slot: int) -> list[CallShard]:
        nodes = self._switch.nodes.values()
        return [desk for node in nodes if (desk := node.shards.get(slot))]


def _kept(node: Node | None, slot: int) -> list[ClaimedCall]:
    """List the calls of a node's desk, as they are in memory."""
    desk = node.shards.get(slot) if node else None
    return (
        [ClaimedCall(desk.context.node, each.stored_call) for each in desk.actors.values()]
        if desk
        else []
    )


def _ears(slot: int, node: Node) -> str:
    return f"ears {slot} {node.name}"


def _pen(slot: int) -> str:
    return f"pen {slot}"
