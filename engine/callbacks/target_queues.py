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
        self._turns = turns
        self._circuit = circuit
        self._monotonic = monotonic
        self._random = random
        self._lanes: dict[str, TargetQueue] = {}
        self._running: set[asyncio.Task[None]] = set()

    def of(self, way: str) -> TargetQueue:
        """Give a target's lane."""
        lane = self._lanes.get(way)
        if lane is None:
            lane = self._lanes[way] = TargetQueue(way, self._circuit(), self._monotonic)
        return lane

    def queue(self, line: CallQueue) -> None:
        """Let a line have its turn."""
        line.is_resting = False
        lane = self.of(line.way)
        lane.ready.append(line)
        self._pump(lane)

    def back_in_s(self, lane: TargetQueue) -> float:
        """Tell when a line may come back that finds no room; not all at the same moment."""
        return lane.back_in_s() + self._random()

    @property
    def open_circuits(self) -> int:
        """How many targets are left alone just now."""
        return sum(not lane.circuit.is_closed for lane in self._lanes.values())

    def sweep(self) -> None:
        """Forget targets that nothing has gone to for long."""
        for way in [way for way, lane in self._lanes.items() if lane.is_idle(IDLE_TIMEOUT_S)]:
            del self._lanes[way]

    async def close(self) -> None:
        """Give up what is on its way."""
        running = tuple(self._running)
        for lane in self._lanes.values():
            lane.ready.clear()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _pump(self, lane: TargetQueue) -> None:
        while (line := lane.next()) is not None:
            task = asyncio.get_running_loop().create_task(self._turn(lane, line))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        for line in lane.left():
            self._turns.put_off(line, self.back_in_s(lane))
        wait_s = lane.paced_s()
        if wait_s is not None and not lane.is_timed:
            lane.is_timed = True
            asyncio.get_running_loop().call_later(wait_s, self._paced, lane)

    def _paced(self, lane: TargetQueue) -> None:
        lane.is_timed = False
        self._pump(lane)

    async def _turn(self, lane: TargetQueue, line: CallQueue) -> None:
        try:
            if lane.pace is INITIAL_RATE_LIMIT:
                lane.pace = await self._turns.pace(line)
                self._pump(lane)
            if await self._turns.take(lane, line):
                lane.ready.append(line)
        finally:
            lane.busy -= 1
        self._pump(lane)
