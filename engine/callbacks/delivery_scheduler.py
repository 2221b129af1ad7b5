"""All target queues: a slow target delays no other."""

import asyncio
from collections.abc import Callable

from base.tasks import BackgroundTasks
from engine.callbacks.call_delivery import CallDelivery
from engine.callbacks.concurrency_limit import ConcurrencyLimit
from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.target_queue import INITIAL_RATE_LIMIT, CircuitBreaker, TargetQueue

IDLE_TIMEOUT_S = 120.0


class DeliveryScheduler:
    """Runs deliveries, as many at once as the engine's limit and each target's limits allow."""

    def __init__(
        self,
        worker: CallDelivery,
        create_circuit: Callable[[], CircuitBreaker],
        monotonic: Callable[[], float],
        random: Callable[[], float],
        limit: ConcurrencyLimit,
    ) -> None:
        self._worker = worker
        self._create_circuit = create_circuit
        self._monotonic = monotonic
        self._random = random
        self._limit = limit
        self._queues: dict[str, TargetQueue] = {}
        self._deliveries = BackgroundTasks()

    def get(self, delivery_key: str) -> TargetQueue:
        target = self._queues.get(delivery_key)
        if target is None:
            target = TargetQueue(delivery_key, self._create_circuit(), self._monotonic)
            self._queues[delivery_key] = target
        return target

    def enqueue(self, call: CallQueue) -> None:
        """Let a call's first event be delivered when the target's limits allow it."""
        call.is_idle = False
        target = self.get(call.delivery_key)
        target.ready.append(call)
        self._start_ready(target)

    def _offer(self, call: CallQueue) -> bool:
        """Enqueue a call if its target has room for it."""
        if not self.get(call.delivery_key).has_room():
            return False
        self.enqueue(call)
        return True

    def retry_delay_s(self, target: TargetQueue) -> float:
        """Return when a call that found no room may try again; with jitter."""
        return target.retry_delay_s() + self._random()

    @property
    def open_circuits(self) -> int:
        return sum(not target.circuit.is_closed for target in self._queues.values())

    def remove_unused(self) -> None:
        """Remove targets without a recent delivery."""
        for key in [key for key, queue in self._queues.items() if queue.is_unused(IDLE_TIMEOUT_S)]:
            del self._queues[key]

    async def close(self) -> None:
        """Cancel deliveries in flight."""
        for target in self._queues.values():
            target.ready.clear()
        await self._deliveries.close()

    def _start_ready(self, target: TargetQueue) -> None:
        """Start what the limits allow: of this target, and of others that waited for a turn."""
        if not target.circuit.is_closed:
            self._wait(target)  # even if its turn comes late
        self._limit.add(target)
        while (following := self._limit.next_target()) is not None:
            call = following.start_next()
            if call is None:
                self._wait(following)
            else:
                self._limit.record_start(following.account, is_proven=following.is_proven)
                self._deliveries.start(
                    self._deliver(following, call, was_proven=following.is_proven)
                )
                self._limit.add(following)

    def _wait(self, target: TargetQueue) -> None:
        """Leave what a target cannot take yet to the store, or to a timer."""
        for call in target.take_blocked():
            self._worker.postpone(call, self.retry_delay_s(target))
        wait_s = target.rate_limit_wait_s()
        if wait_s is not None and not target.has_timer:
            target.has_timer = True
            asyncio.get_running_loop().call_later(wait_s, self._on_rate_limit, target)

    def _on_rate_limit(self, target: TargetQueue) -> None:
        target.has_timer = False
        self._start_ready(target)

    async def _deliver(self, target: TargetQueue, call: CallQueue, *, was_proven: bool) -> None:
        try:
            if target.rate_limit is INITIAL_RATE_LIMIT:
                target.rate_limit = await self._worker.rate_limit(call)
                self._start_ready(target)
            if await self._worker.deliver_next(target, call, self._offer):
                target.ready.append(call)
        finally:
            target.in_flight -= 1
            self._limit.record_end(target.account, was_proven=was_proven)
        self._start_ready(target)
