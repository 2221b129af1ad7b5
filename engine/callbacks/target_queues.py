"""All lanes: each target's events go at the target's own pace, and no other waits for them."""

import asyncio
from collections.abc import Callable

from engine.callbacks.call_queue import CallQueue
from engine.callbacks.circuit_breaker import CircuitBreaker
from engine.callbacks.target_queue import INITIAL_RATE_LIMIT, TargetQueue
from engine.callbacks.worker import DeliveryWorker

IDLE_TIMEOUT_S = 120.0


class TargetQueues:
    """Runs the turns of lines, as many at once as each lane allows."""

    def __init__(
        self,
        turns: DeliveryWorker,
        circuit: Callable[[], CircuitBreaker],
        monotonic: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        self._worker = turns
        self._create_circuit = circuit
        self._monotonic = monotonic
        self._random = random
        self._queues: dict[str, TargetQueue] = {}
        self._running: set[asyncio.Task[None]] = set()

    def get(self, way: str) -> TargetQueue:
        """Give a target's lane."""
        lane = self._queues.get(way)
        if lane is None:
            lane = self._queues[way] = TargetQueue(way, self._create_circuit(), self._monotonic)
        return lane

    def enqueue(self, line: CallQueue) -> None:
        """Let a line have its turn."""
        line.is_idle = False
        lane = self.get(line.delivery_key)
        lane.ready.append(line)
        self._pump(lane)

    def retry_delay_s(self, lane: TargetQueue) -> float:
        """Tell when a line may come back that finds no room; not all at the same moment."""
        return lane.retry_delay_s() + self._random()

    @property
    def open_circuits(self) -> int:
        """How many targets are left alone just now."""
        return sum(not lane.circuit.is_closed for lane in self._queues.values())

    def remove_unused(self) -> None:
        """Forget targets that nothing has gone to for long."""
        for way in [way for way, lane in self._queues.items() if lane.is_unused(IDLE_TIMEOUT_S)]:
            del self._queues[way]

    async def close(self) -> None:
        """Give up what is on its way."""
        running = tuple(self._running)
        for lane in self._queues.values():
            lane.ready.clear()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _pump(self, lane: TargetQueue) -> None:
        while (line := lane.start_next()) is not None:
            task = asyncio.get_running_loop().create_task(self._deliver(lane, line))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        for line in lane.take_blocked():
            self._worker.postpone(line, self.retry_delay_s(lane))
        wait_s = lane.rate_limit_wait_s()
        if wait_s is not None and not lane.has_timer:
            lane.has_timer = True
            asyncio.get_running_loop().call_later(wait_s, self._on_rate_limit, lane)

    def _on_rate_limit(self, lane: TargetQueue) -> None:
        lane.has_timer = False
        self._pump(lane)

    async def _deliver(self, lane: TargetQueue, line: CallQueue) -> None:
        try:
            if lane.rate_limit is INITIAL_RATE_LIMIT:
                lane.rate_limit = await self._worker.rate_limit(line)
                self._pump(lane)
            if await self._worker.deliver_next(lane, line):
                lane.ready.append(line)
        finally:
            lane.in_flight -= 1
        self._pump(lane)
