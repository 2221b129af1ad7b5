"""Runs this engine's slots on every node: opens and closes their shards as leases come and go."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from time import perf_counter
from typing import Any, Protocol

import structlog

from engine.callbacks.dispatcher import CallbackDispatcher
from engine.calls.model.storage_format import LaterCall
from engine.runtime.base.clock import Clock
from engine.runtime.base.context import EngineContext
from engine.runtime.base.tasks import Tasks
from engine.runtime.call_service import CallService
from engine.runtime.cluster.lease import Lease
from engine.runtime.ownership.slot_loader import ClaimedCall, WriterFactory, load_slot
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.policy.capacity_limits import TRUNK
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer

log = structlog.get_logger()
DRAIN_TIMEOUT_S = 1.0
CUSTOMER_TIMEOUT_S = 0.25  # of the drain: longer would delay control and events of all its calls
PRESENCE_SLOT = 0  # its owner watches registrations: one engine must, and slot 0 always exists


class ShardFactory(Protocol):
    """Builds the shards of a slot, and what listens for them."""

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build a slot's shard at a node."""

    def placeholder(self, name: str) -> Node:
        """Build a node that is never connected, for calls whose node is not configured."""

    def listen(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""

    async def watch_presence(self, node: Node, slot: int) -> None:
        """Track which agents are registered at a node, until cancelled."""


class SlotLifecycle:
    """Implements `cluster.SlotHost` with real shards."""

    def __init__(
        self,
        context: EngineContext,
        service: CallService,
        factory: ShardFactory,
        tasks: Tasks,
        callbacks: CallbackDispatcher | None = None,
    ) -> None:
        self._store = context.store
        self._clock = context.clock
        self._metrics = context.metrics
        self._service = service
        self._factory = factory
        self._tasks = tasks
        self._callbacks = callbacks
        self._writer_factory = WriterFactory(
            context.random, self._suspect, context.metrics, callbacks
        )
        self._writers: dict[int, Writer] = {}
        self._leases: dict[int, Lease] = {}
        self._later: dict[int, tuple[tuple[str, LaterCall], ...]] = {}  # by slot, with their nodes

    async def take(self, slot: int, lease: Lease) -> None:
        began_s = perf_counter()
        claimed = await load_slot(self._store, slot, lease.token, self._writer_factory)
        self._metrics.store.takeover_duration.series(slot).observe(perf_counter() - began_s)
        for call in claimed.calls:
            self._metrics.calls.taken_over.table(call.node)[str(slot)] += 1
        log.info("slot taken", slot=slot, calls=len(claimed.calls))
        self._open(slot, lease, claimed.writer, claimed.calls, claimed.seen_ms)
        self._leave_alone(slot, claimed.later)

    async def restore(self, slot: int, lease: Lease) -> None:
        calls = [
            call
            for node in self._service.nodes.values()
            for call in _calls_of(node, slot, self._clock)
        ]
        buffered = {shard.context.node: shard.pause_buffer.events for shard in self._shards(slot)}
        writer = self._writer_factory.writer(self._store, slot, lease.token)
        writer.take_pending_from(self._writers[slot])  # the end of a call is stored nowhere else
        later = self._later.get(slot, ())
        self.drop(slot)
        self._open(slot, lease, writer, calls)
        self._leave_alone(slot, later)
        for shard in self._shards(slot):
            shard.inherit_events(buffered.get(shard.context.node, ()))
            shard.store_again(writer.pending_calls)

    def tokens(self) -> dict[int, int]:
        """Return the fencing tokens of the slots whose leases hold."""
        return {slot: lease.token for slot, lease in self._leases.items() if lease.holds}

    @property
    def unreadable_calls(self) -> int:
        """Number of live calls in the held slots that only a later version reads."""
        return sum(map(len, self._later.values()))

    def required_format(self, slot: int) -> int:
        return max((call.format for _node, call in self._later.get(slot, ())), default=0)

    def last_commit(self, slot: int) -> int:
        writer = self._writers.get(slot)
        return writer.last_number if writer else 0

    def rewrite_lost(self, slot: int) -> None:
        """Store again what the store has lost; pending changes are complete by themselves."""
        if writer := self._writers.get(slot):
            writer.reset_numbering()
            for shard in self._shards(slot):
                shard.store_again(writer.pending_calls)

    async def drain(self, slot: int) -> None:
        """Accept nothing more, and wait for a limited time until all changes are stored."""
        self._service.releasing.add(slot)
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await self._finish_customer_requests(slot)
                await self._writers[slot].drain()
                if self._callbacks:
                    await self._callbacks.drain(slot)
        except TimeoutError:
            log.warning("shutdown: uncommitted changes remain", slot=slot)

    def pause(self, slot: int) -> None:
        """Stop listening, so that the PBX offers new calls to other slots."""
        for node in self._service.nodes.values():
            self._tasks.cancel(_listener_task(slot, node))
            node.pause_slot(slot)

    def resume(self, slot: int) -> None:
        """Listen again; missed events are recovered."""
        for node in self._service.nodes.values():
            self._listen(node, slot)

    def drop(self, slot: int) -> None:
        self._service.releasing.discard(slot)
        self._tasks.cancel(_writer_task(slot))
        if self._callbacks:
            self._callbacks.close_slot(slot)
        self._writers.pop(slot, None)
        self._leases.pop(slot, None)
        self._later.pop(slot, None)
        self._metrics.calls.unreadable.table().pop(str(slot), None)
        for node in self._service.nodes.values():
            self._tasks.cancel(_listener_task(slot, node))
            node.remove_shard(slot)

    def add_node(self, node: Node) -> None:
        """Open a node's shards in the held slots; it inherits the calls of one of its name."""
        before = self._service.nodes.get(node.name)
        self._service.nodes[node.name] = node
        for slot, lease in self._leases.items():
            calls = _calls_of(before, slot, self._clock)
            if before:
                before.remove_shard(slot)
            node.add_shard(slot, self._factory.shard(node, slot, lease, self._writers[slot]))
            node.shards[slot].leave_alone(_on_node(self._later.get(slot, ()), node.name))
            for call in calls:
                self._service.adopt(call.node, slot, call.stored)
            self._listen(node, slot)

    def remove_node(self, node: Node) -> None:
        for slot in self._leases:
            self._tasks.cancel(_listener_task(slot, node))
            node.remove_shard(slot)
        self._service.nodes.pop(node.name, None)

    def calls(self, slot: int) -> int:
        return sum(len(shard.calls) for shard in self._shards(slot))

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node, and, as TRUNK, the legs on the trunk."""
        of_nodes = {node.name: node.live_calls for node in self._service.nodes.values()}
        return {**of_nodes, TRUNK: self._service.node_selection.legs.on_trunk}

    def account_loads(self) -> dict[str, tuple[int, int]]:
        """Return the live dialled legs of each account, and for how many milliseconds."""
        return self._service.node_selection.legs.by_account(self._clock.now_ms())

    async def _finish_customer_requests(self, slot: int) -> None:
        """Start no more requests to customers, and give those in flight a moment to end.

        The next owner repeats the others with the same ids.
        """
        shards = self._shards(slot)
        for shard in shards:
            shard.begin_handover()
        waits = [shard.wait_for_customers() for shard in shards]
        if self._callbacks:
            waits.append(self._callbacks.finish_deliveries(slot))
        with suppress(TimeoutError):
            async with asyncio.timeout(CUSTOMER_TIMEOUT_S):
                await asyncio.gather(*waits)

    def _open(
        self,
        slot: int,
        lease: Lease,
        writer: Writer,
        calls: Collection[ClaimedCall],
        seen_ms: int = 0,
    ) -> None:
        for name in {call.node for call in calls} - self._service.nodes.keys():
            # Its calls end after the grace period, unless the node is configured again.
            log.error("calls on a node that is not configured", node=name)
            self.add_node(self._factory.placeholder(name))
        self._writers[slot], self._leases[slot] = writer, lease
        if self._callbacks:
            self._callbacks.open_slot(slot, lease)
        self._tasks.start(_writer_task(slot), writer.run())
        for node in self._service.nodes.values():
            node.add_shard(slot, self._factory.shard(node, slot, lease, writer))
        for shard in self._shards(slot):
            shard.last_seen_ms = seen_ms + self._clock.offset_ms if seen_ms else 0
        for call in calls:
            self._service.adopt(call.node, slot, call.stored)
        self.resume(slot)

    def _leave_alone(self, slot: int, later: tuple[tuple[str, LaterCall], ...]) -> None:
        """Protect the legs of calls that only an engine of a later version can continue."""
        if not later:
            return
        self._later[slot] = later
        self._metrics.calls.unreadable.table()[str(slot)] = len(later)
        log.error(
            "calls of a later version wait for an engine that can read them",
            slot=slot,
            calls=len(later),
            format=self.required_format(slot),
        )
        for shard in self._shards(slot):
            shard.leave_alone(_on_node(later, shard.context.node))

    def _listen(self, node: Node, slot: int) -> None:
        task = _listener_task(slot, node)
        self._tasks.cancel(task)
        self._tasks.start(task, self._factory.listen(node, slot, self._suspect))
        if slot == PRESENCE_SLOT:
            self._tasks.start(task, self._factory.watch_presence(node, slot))

    def _suspect(self, slot: int) -> None:
        """Report that another engine may have a slot."""
        if lease := self._leases.get(slot):
            lease.suspect()

    def _shards(self, slot: int) -> list[CallShard]:
        nodes = self._service.nodes.values()
        return [shard for node in nodes if (shard := node.shards.get(slot))]


def _on_node(later: tuple[tuple[str, LaterCall], ...], node: str) -> list[LaterCall]:
    return [call for name, call in later if name == node]


def _calls_of(node: Node | None, slot: int, clock: Clock) -> list[ClaimedCall]:
    """Return the calls of a node's shard, as they are in memory."""
    shard = node.shards.get(slot) if node else None
    if shard is None:
        return []
    name = shard.context.node
    return [ClaimedCall(name, each.stored_call(clock)) for each in shard.calls.values()]


def _listener_task(slot: int, node: Node) -> str:
    return f"listener {slot} {node.name}"


def _writer_task(slot: int) -> str:
    return f"writer {slot}"
