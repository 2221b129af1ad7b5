"""Delivers committed events to customers, and those the store holds when they are due.

Events are delivered from memory, in order for each call; the store keeps them until they arrive.
Events that failed, or that their target cannot take yet, wait in the store, polled every second.
"""

import asyncio

import structlog

from base.tasks import BackgroundTasks, wait_for_event
from engine.callbacks.delivery_attempt import RetrySchedule
from engine.callbacks.delivery_scheduler import DeliveryScheduler
from engine.callbacks.settlement_writer import SettlementWriter
from engine.callbacks.shard_queues import CallQueue, ShardQueues
from engine.observe.metrics import Metrics
from engine.store.callback_queue import CallbackQueue, CallbackQueueLimits, DueCall, Settlement
from engine.store.change import Change
from engine.store.errors import Fenced, StoreDown
from engine.store.store import LeaseView
from wire.shard import ShardId

log = structlog.get_logger()
POLL_INTERVAL_S = 1.0
MAX_CLAIMED_CALLS = 500
CLAIM_AHEAD_MS = CallbackQueueLimits().claim_ms  # as long as a dead owner's claim may still run


class CallbackDispatcher:
    """Delivers events of the shards that are open here; `run` polls the store."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        callback_queue: CallbackQueue,
        targets: DeliveryScheduler,
        shards: dict[ShardId, ShardQueues],
        schedule: RetrySchedule,
        metrics: Metrics,
        *,
        poll_interval_s: float = POLL_INTERVAL_S,
    ) -> None:
        self._poll_interval_s = poll_interval_s
        self._callback_queue = callback_queue
        self._targets = targets
        self._shards = shards
        self._schedule = schedule
        self._metrics = metrics.callbacks
        self._closing = BackgroundTasks()
        self._wake = asyncio.Event()

    def open_shard(self, shard: ShardId, lease: LeaseView) -> None:
        """Start to deliver for a shard, first what its last owner left."""
        self.close_shard(shard)
        settlements = SettlementWriter(self._callback_queue, shard, lease.token)
        self._shards[shard] = ShardQueues(shard, lease, settlements)
        self._wake.set()

    def close_shard(self, shard: ShardId) -> None:
        """Leave a shard to its next owner."""
        queues = self._shards.pop(shard, None)
        if queues is not None:
            self._metrics.clear_shard(shard)
            self._closing.start(queues.close())

    async def finish_deliveries(self, shard: ShardId) -> None:
        """Start no more deliveries for a shard, and wait until those in flight have ended."""
        queues = self._shards.get(shard)
        if queues is not None:
            queues.is_closing = True
            await queues.in_flight.wait_until_empty()

    async def drain(self, shard: ShardId) -> None:
        """Start no more deliveries for a shard, and wait until finished ones are settled."""
        queues = self._shards.get(shard)
        if queues is not None:
            queues.is_closing = True
            await queues.flush()

    def enqueue(self, shard: ShardId, change: Change) -> None:
        """Deliver the callbacks of a committed change."""
        queues = self._shards.get(shard)
        if queues is None or queues.is_closing:
            return
        call = queues.queues.get(change.call_id)
        is_waiting = call is None or call.is_idle
        if call is None:
            if not self._targets.get(change.delivery_key).has_room():
                queues.discard(change.call_id)
                return
            call = queues.create_queue(change.call_id, change.delivery_key, change.first_seq)
            queues.add(call)
        call.add(enumerate(change.callbacks, change.first_seq), no_more_events=not change.live)
        if is_waiting:
            self._targets.enqueue(call)

    def record_overflow(self, shard: ShardId, count: int) -> None:
        """Record that the callback queue was full and events became dead letters."""
        self._metrics.dead_lettered.table()["overflow"] += count
        log.error("callbacks given up: outbox full", shard=str(shard), events=count)

    async def run(self) -> None:
        """Poll the store for due events until cancelled."""
        while True:
            self._wake.clear()
            for queues in list(self._shards.values()):
                if queues.is_open:
                    await self._claim_due(queues)
            self._targets.remove_unused()
            self._metrics.open_circuits.table()[""] = self._targets.open_circuits
            await wait_for_event(self._wake, self._poll_interval_s)

    async def close(self) -> None:
        """Stop; the next owner redelivers events in flight."""
        for shard in list(self._shards):
            self.close_shard(shard)
        await self._targets.close()
        await self._closing.join()

    async def _claim_due(self, queues: ShardQueues) -> None:
        ahead_ms = CLAIM_AHEAD_MS if queues.is_new else 0
        token = queues.lease.token
        try:
            batch = await self._callback_queue.claim_due(
                queues.shard, token, ahead_ms, MAX_CLAIMED_CALLS
            )
        except (StoreDown, Fenced):
            return  # the next poll retries, or the lease manager closes the shard
        self._metrics.set_pending(queues.shard, batch.pending, batch.oldest_ms)
        # A claim ahead repeats those before it, after the calls that none of them took.
        is_repeated = queues.is_new and all(due.call_id in queues.queues for due in batch.calls)
        for due in batch.calls:
            self._accept(queues, due)
        is_all = is_repeated or len(batch.calls) < MAX_CLAIMED_CALLS
        queues.is_new = queues.is_new and not is_all
        if not is_all:
            self._wake.set()

    def _accept(self, queues: ShardQueues, due: DueCall) -> None:
        call = queues.queues.get(due.call_id)
        if call is not None:
            call.is_due = call.is_due_again = True  # the worker that holds it sees this
            return
        target = self._targets.get(due.delivery_key)
        if target.has_room():
            call = CallQueue(queues.shard, due.call_id, due.delivery_key)
            call.age_ms, call.is_due = due.age_ms, True
            queues.add(call)
            self._targets.enqueue(call)
        elif self._schedule.is_expired(due.age_ms / 1000):
            self._metrics.dead_lettered.table()["circuit_open"] += 1
            log.warning("callbacks given up", call_id=due.call_id, reason="circuit_open")
            queues.settle(Settlement(due.call_id, give_up_reason="circuit_open"))
        else:
            retry_after_ms = int(self._targets.retry_delay_s(target) * 1000)
            queues.settle(Settlement(due.call_id, retry_after_ms=retry_after_ms))
