"""A callback dispatcher over the memory store, with an outbox as slow as a network."""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.concurrency_limit import ConcurrencyLimit
from engine.callbacks.delivery_attempt import DeliveryAttempt, RetrySchedule
from engine.callbacks.delivery_scheduler import DeliveryScheduler
from engine.callbacks.dispatcher import CallbackDispatcher
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.shard_queues import ShardQueues
from engine.callbacks.target_queue import CircuitBreaker
from engine.callbacks.transport import Transport
from engine.observe.metrics import Metrics
from engine.store.callback_queue import (
    CallbackQueue,
    ClaimedBatch,
    DeadLetter,
    PendingEvents,
    Settlement,
)
from tests.harness.callbacks.scene import FakeLease
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.store.stores import claim_shard
from wire.callbacks.targets import GrpcTarget
from wire.shard import ShardId


class SlowOutbox:
    """An outbox whose requests and responses each take some turns of the loop, in rotation."""

    def __init__(self, outbox: CallbackQueue, turns: Sequence[int]) -> None:
        self._outbox = outbox
        self._turns = turns or (0,)
        self._count = 0
        self.polls = 0

    async def claim_due(
        self, shard: ShardId, token: int, ahead_ms: int, limit: int
    ) -> ClaimedBatch:
        """See CallbackQueue."""
        self.polls += 1
        await self._pass_time()
        batch = await self._outbox.claim_due(shard, token, ahead_ms, limit)
        await self._pass_time()
        return batch

    async def pending_events(self, shard: ShardId, call_id: str, limit: int) -> PendingEvents:
        """See CallbackQueue."""
        await self._pass_time()
        found = await self._outbox.pending_events(shard, call_id, limit)
        await self._pass_time()
        return found

    async def pending_calls(
        self, shard: ShardId, account: str, cursor: int
    ) -> tuple[int, list[str]]:
        """See CallbackQueue."""
        return await self._outbox.pending_calls(shard, account, cursor)

    async def remove_pending(self, shard: ShardId, call_id: str, numbers: Sequence[int]) -> int:
        """See CallbackQueue."""
        return await self._outbox.remove_pending(shard, call_id, numbers)

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        """See CallbackQueue."""
        await self._pass_time()
        await self._outbox.settle(shard, token, settlements)
        await self._pass_time()

    async def dead_letters(
        self, shard: ShardId, account: str, after: str, limit: int
    ) -> list[DeadLetter]:
        """See CallbackQueue."""
        return await self._outbox.dead_letters(shard, account, after, limit)

    async def resend(self, shard: ShardId, account: str, entries: Sequence[str], limit: int) -> int:
        """See CallbackQueue."""
        return await self._outbox.resend(shard, account, entries, limit)

    async def account(self, account: str) -> tuple[bytes | None, int]:
        """See CallbackQueue."""
        return await self._outbox.account(account)

    async def stop_account(self, account: str, put_ms: int) -> None:
        """See Outbox."""
        await self._outbox.stop_account(account, put_ms)

    async def _pass_time(self) -> None:
        self._count += 1
        for _ in range(self._turns[self._count % len(self._turns)]):
            await asyncio.sleep(0)


async def open_dispatcher(  # noqa: PLR0913 - what a test chooses
    stack: AsyncExitStack,
    store: MemoryStore,
    transport: Transport,
    *,
    outbox: CallbackQueue,
    schedule: RetrySchedule,
    poll_interval_s: float,
) -> tuple[CallbackDispatcher, int]:
    """Run a dispatcher for the shard until the stack closes; return it and the shard's token."""
    outboxes = dict[ShardId, ShardQueues]()
    metrics = Metrics()
    delivery = create_attempt(store, transport, schedule, metrics)
    worker = CallDelivery(outbox, delivery, outboxes)
    create_circuit = partial(CircuitBreaker, max_failures=1_000)
    queues = DeliveryScheduler(
        worker, create_circuit, time.monotonic, lambda: 0.0, ConcurrencyLimit()
    )
    dispatcher = CallbackDispatcher(
        outbox, queues, outboxes, schedule, metrics, poll_interval_s=poll_interval_s
    )
    token = await claim_shard(store, SHARD, "me")
    dispatcher.open_shard(SHARD, FakeLease(token))
    running = asyncio.create_task(dispatcher.run())
    stack.push_async_callback(dispatcher.close)
    stack.callback(running.cancel)
    return dispatcher, token


def create_attempt(
    store: MemoryStore, transport: Transport, schedule: RetrySchedule, metrics: Metrics
) -> DeliveryAttempt:
    """Create what makes the attempts of a dispatcher, over gRPC only."""
    return DeliveryAttempt(
        AccountSettings(store.callback_queue, lambda: 0, AccountSecrets(b"key")),
        {GrpcTarget: transport},
        schedule,
        clock=time.time,
        now_ms=lambda: 0,
        random=random.random,
        metrics=metrics.callbacks,
    )
