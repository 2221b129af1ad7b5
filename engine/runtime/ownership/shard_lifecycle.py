"""Runs this engine's shards: opens and closes them as leases and nodes come and go."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from time import perf_counter
from typing import Any, Protocol

import structlog

from engine.callbacks.dispatcher import CallbackDispatcher
from engine.calls.model.storage_format import LaterCall, StoredCall
from engine.runtime.base.clock import Clock
from engine.runtime.base.context import EngineContext
from engine.runtime.base.node_report import AccountUse, NodeReport
from engine.runtime.base.tasks import Tasks
from engine.runtime.call_service import CallService
from engine.runtime.cluster.lease import Lease
from engine.runtime.ownership.shard_loader import WriterFactory, load_shard
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.pbx_nodes.recent_digits import RETENTION_MS
from engine.runtime.policy.capacity_limits import TRUNK
from engine.runtime.shard.shard import CallShard
from engine.store.errors import StoreDown
from engine.store.writer import Writer
from wire.shard import ShardId


class ShardFactory(Protocol):
    """Builds shards, and what listens for them."""

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build the shard of a slot at a node."""

    def placeholder(self, name: str) -> Node:
        """Build a node that is never connected, for calls whose node is not configured."""

    def listen(
        self, node: Node, slot: int, replaced: Callable[[ShardId], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""


log = structlog.get_logger()
DRAIN_TIMEOUT_S = 1.0
RESERVE_INTERVAL_S = 0.5
CUSTOMER_TIMEOUT_S = 0.25  # of the drain: longer would delay control and events of all its calls
PBX_TIMEOUT_S = 0.1  # of the drain, too


class ShardLifecycle:
    """Implements `cluster.ShardOwner` with real shards."""

    def __init__(
        self,
        context: EngineContext,
        service: CallService,
        factory: ShardFactory,
        tasks: Tasks,
        callbacks: CallbackDispatcher | None = None,
    ) -> None:
        self._engine = context.engine
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
        self._writers: dict[ShardId, Writer] = {}
        self._leases: dict[ShardId, Lease] = {}
        self._later: dict[ShardId, tuple[LaterCall, ...]] = {}

    async def take(self, shard: ShardId, lease: Lease) -> None:
        began_s = perf_counter()
        claimed = await load_shard(self._store, shard, lease.token, self._writer_factory)
        duration = self._metrics.store.takeover_duration.series(shard.node, shard.slot)
        duration.observe(perf_counter() - began_s)
        taken_over = self._metrics.calls.taken_over.table(shard.node)
        taken_over[str(shard.slot)] += len(claimed.calls)
        log.info("shard taken", shard=str(shard), calls=len(claimed.calls))
        self._open(shard, lease, claimed.writer, claimed.calls)
        taken = self._shard(shard)
        taken.last_seen_ms = claimed.seen_ms + self._clock.offset_ms if claimed.seen_ms else 0
        taken.new_owner = self._engine
        for ended in claimed.unsent:
            taken.send_last_webhooks(ended)
        self._leave_alone(shard, claimed.later)

    async def restore(self, shard: ShardId, lease: Lease) -> None:
        before = self._find(shard)
        calls = _calls_of(before, self._clock)
        buffered = before.pause_buffer.events if before else ()
        writer = self._writer_factory.writer(self._store, shard, lease.token)
        writer.take_pending_from(self._writers[shard])  # the end of a call is stored nowhere else
        later = self._later.get(shard, ())
        self.drop(shard)
        self._open(shard, lease, writer, calls)
        self._leave_alone(shard, later)
        restored = self._shard(shard)
        restored.inherit_events(buffered)
        self._store_again(shard, restored)

    def tokens(self) -> dict[ShardId, int]:
        """Return the fencing tokens of the shards whose leases hold."""
        return {shard: lease.token for shard, lease in self._leases.items() if lease.holds}

    @property
    def unreadable_calls(self) -> int:
        """Number of live calls in the held shards that only a later version reads."""
        return sum(map(len, self._later.values()))

    def required_format(self, shard: ShardId) -> int:
        return max((call.format for call in self._later.get(shard, ())), default=0)

    def last_commit(self, shard: ShardId) -> int:
        writer = self._writers.get(shard)
        return writer.last_number if writer else 0

    def rewrite_lost(self, shard: ShardId) -> None:
        """Store again what the store has lost; pending changes are complete by themselves."""
        writer, held = self._writers.get(shard), self._find(shard)
        if writer and held:
            writer.reset_numbering()
            self._store_again(shard, held)

    async def drain(self, shard: ShardId) -> None:
        """Accept nothing more, and wait for a limited time until all changes are stored."""
        self._service.releasing.add(shard)
        try:
            async with asyncio.timeout(DRAIN_TIMEOUT_S):
                await self._finish_customer_requests(shard)
                await self._writers[shard].drain()
                await self._finish_pbx_requests(shard)
                if self._callbacks:
                    await self._callbacks.drain(shard)
        except TimeoutError:
            log.warning("shutdown: uncommitted changes remain", shard=str(shard))

    def pause(self, shard: ShardId) -> None:
        """Stop listening, so that the PBX offers new calls to other slots."""
        self._tasks.cancel(_listener_task(shard))
        if self._find(shard):
            self._service.nodes[shard.node].pause_slot(shard.slot)

    def resume(self, shard: ShardId) -> None:
        """Listen again; missed events are recovered."""
        if self._find(shard):
            self._listen(shard)

    def drop(self, shard: ShardId) -> None:
        self._service.releasing.discard(shard)
        self._tasks.cancel(_writer_task(shard))
        self._tasks.cancel(_listener_task(shard))
        if self._callbacks:
            self._callbacks.close_shard(shard)
        self._writers.pop(shard, None)
        self._leases.pop(shard, None)
        self._later.pop(shard, None)
        self._metrics.calls.unreadable.table(shard.node).pop(str(shard.slot), None)
        if node := self._service.nodes.get(shard.node):
            node.remove_shard(shard.slot)

    def add_node(self, node: Node) -> None:
        """Open a node's held shards; it inherits the calls of one of its name."""
        before = self._service.nodes.get(node.name)
        self._service.nodes[node.name] = node
        for shard in self._held_at(node.name):
            calls = _calls_of(before.shards.get(shard.slot) if before else None, self._clock)
            if before:
                before.remove_shard(shard.slot)
            self._add_shard(shard, calls)
            self._shard(shard).leave_alone(self._later.get(shard, ()))
            self._listen(shard)

    def remove_node(self, node: Node) -> None:
        for shard in self._held_at(node.name):
            self._tasks.cancel(_listener_task(shard))
            node.remove_shard(shard.slot)
        self._service.nodes.pop(node.name, None)

    def calls(self, shard: ShardId) -> int:
        held = self._find(shard)
        return len(held.calls) if held else 0

    def calls_by_node(self) -> dict[str, int]:
        """Count the live calls of each node, and, as TRUNK, the legs on the trunk."""
        of_nodes = {node.name: node.live_calls for node in self._service.nodes.values()}
        return {**of_nodes, TRUNK: self._service.node_selection.legs.on_trunk}

    def account_uses(self) -> dict[str, AccountUse]:
        """Return what the calls of each account use."""
        return self._service.node_selection.legs.by_account(self._clock.now_ms())

    def node_reports(self) -> dict[str, NodeReport]:
        return self._service.node_selection.own_reports()

    def heard_s(self) -> dict[str, int]:
        heard = {name: node.recent_digits.heard_ms for name, node in self._service.nodes.items()}
        return {
            name: min(heard_ms, RETENTION_MS) // 1000
            for name, heard_ms in heard.items()
            if heard_ms is not None
        }

    def phones_revision(self) -> int:
        return self._service.phone_reports.revision

    async def _finish_customer_requests(self, shard: ShardId) -> None:
        """Start no more requests to customers, and give those in flight a moment to end.

        The next owner repeats the others with the same ids.
        """
        waits: list[Coroutine[Any, Any, None]] = []
        if held := self._find(shard):
            held.begin_handover()
            waits.append(held.wait_for_customers())
        if self._callbacks:
            waits.append(self._callbacks.finish_deliveries(shard))
        with suppress(TimeoutError):
            async with asyncio.timeout(CUSTOMER_TIMEOUT_S):
                await asyncio.gather(*waits)

    async def _finish_pbx_requests(self, shard: ShardId) -> None:
        if held := self._find(shard):
            with suppress(TimeoutError):
                async with asyncio.timeout(PBX_TIMEOUT_S):
                    await held.wait_for_pbx()

    def _open(
        self, shard: ShardId, lease: Lease, writer: Writer, calls: Collection[StoredCall]
    ) -> None:
        if shard.node not in self._service.nodes:
            # Its calls end after the grace period, unless the node is configured again.
            log.error("calls on a node that is not configured", node=shard.node, calls=len(calls))
            self.add_node(self._factory.placeholder(shard.node))
        self._writers[shard], self._leases[shard] = writer, lease
        if self._callbacks:
            self._callbacks.open_shard(shard, lease)
        self._tasks.start(_writer_task(shard), writer.run())
        self._add_shard(shard, calls)
        self._listen(shard)

    def _add_shard(self, shard: ShardId, calls: Collection[StoredCall]) -> None:
        node = self._service.nodes[shard.node]
        lease, writer = self._leases[shard], self._writers[shard]
        node.add_shard(shard.slot, self._factory.shard(node, shard.slot, lease, writer))
        for call in calls:
            self._service.adopt(shard, call)

    def _store_again(self, shard: ShardId, held: CallShard) -> None:
        """Store calls that the store has lost, and which requests started them."""
        held.store_again(self._writers[shard].pending_calls)
        calls = (each.call for each in held.calls.values())
        outbound = [call.id for call in calls if call.direction == "outbound"]
        self._tasks.start(_writer_task(shard), self._reserve_requests(outbound))

    async def _reserve_requests(self, calls: Collection[str]) -> None:
        """Reserve the ids of calls again; requests without an id have a tail that none repeats."""
        left = list(calls)
        while left:
            try:
                await self._store.reserve_request(left[-1].rpartition("-")[2], left[-1])
            except StoreDown:  # else a repeated request would start a second call
                await asyncio.sleep(RESERVE_INTERVAL_S)
            else:
                left.pop()

    def _leave_alone(self, shard: ShardId, later: tuple[LaterCall, ...]) -> None:
        """Protect the legs of calls that only an engine of a later version can continue."""
        if not later:
            return
        self._later[shard] = later
        self._metrics.calls.unreadable.table(shard.node)[str(shard.slot)] = len(later)
        log.error(
            "calls of a later version wait for an engine that can read them",
            shard=str(shard),
            calls=len(later),
            format=self.required_format(shard),
        )
        self._shard(shard).leave_alone(later)

    def _listen(self, shard: ShardId) -> None:
        task, node = _listener_task(shard), self._service.nodes[shard.node]
        self._tasks.cancel(task)
        self._tasks.start(task, self._factory.listen(node, shard.slot, self._suspect))

    def _suspect(self, shard: ShardId) -> None:
        """Report that another engine may have a shard."""
        if lease := self._leases.get(shard):
            lease.suspect()

    def _held_at(self, node: str) -> list[ShardId]:
        return [shard for shard in self._leases if shard.node == node]

    def _find(self, shard: ShardId) -> CallShard | None:
        node = self._service.nodes.get(shard.node)
        return node.shards.get(shard.slot) if node else None

    def _shard(self, shard: ShardId) -> CallShard:
        return self._service.nodes[shard.node].shards[shard.slot]


def _calls_of(shard: CallShard | None, clock: Clock) -> list[StoredCall]:
    """Return the calls of a shard, as they are in memory."""
    return [] if shard is None else [each.stored_call(clock) for each in shard.calls.values()]


def _listener_task(shard: ShardId) -> str:
    return f"listener {shard}"


def _writer_task(shard: ShardId) -> str:
    return f"writer {shard}"
