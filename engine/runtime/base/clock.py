"""The engine's clock: wall time in milliseconds, timers on it, and its correction.

The host's clock may be wrong by hours when the engine starts, and be set later. The engine's clock
follows it, and moves the times of live calls with it: no deadline comes earlier or later.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

import structlog

from base.timers import TimerHeap
from engine.observe.metrics import Metrics
from engine.store.errors import StoreDown
from engine.store.store import Store


class Timer(Protocol):
    def cancel(self) -> None:
        """Cancel the timer; harmless once it has fired."""


class Clock(Protocol):
    """The only source of time in the runtime; the simulator replaces it."""

    offset_ms: int  # how far it is ahead of the store's clock, as last measured

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Call back at that time, or on one of the next loop turns if it has passed."""


class LoopClock:
    """The event loop's clock plus an offset, so that wall-clock jumps move no timer.

    A host's clock may be wrong when the engine starts: `correct` follows it
    (`ClockStepCorrection`).
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, wall_s: Callable[[], float] = time.time
    ) -> None:
        self.offset_ms = 0
        self._loop = loop
        self._timers = TimerHeap(loop)
        self._wall_s = wall_s
        self._to_wall_s = wall_s() - loop.time()

    def now_ms(self) -> int:
        return int((self._loop.time() + self._to_wall_s) * 1000)

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        return self._timers.call_at(when_ms / 1000 - self._to_wall_s, callback)

    @property
    def error_ms(self) -> int:
        """How far the host's clock is ahead of this one."""
        return round((self._wall_s() - self._loop.time() - self._to_wall_s) * 1000)

    def correct(self, by_ms: int) -> None:
        """Advance the clock; timers that are set fire when they would have fired."""
        self._to_wall_s += by_ms / 1000
        self.offset_ms += by_ms


log = structlog.get_logger()
POLL_INTERVAL_S = 5.0
MAX_ERROR_MS = 1_000  # smaller differences are left alone: NTP corrects them slowly


class ClockStepCorrection:
    """Polls both clocks; `on_change` moves the times of live calls by some milliseconds."""

    def __init__(
        self, clock: LoopClock, store: Store, metrics: Metrics, on_change: Callable[[int], None]
    ) -> None:
        self._clock = clock
        self._store = store
        self._metrics = metrics.clock
        self._on_change = on_change
        self._is_measured = False

    async def run(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            try:
                await self.poll()
            except StoreDown as error:
                log.info("clock of the store not read", error=str(error))

    async def poll(self) -> None:
        """Follow the host's clock, then compare with the store's; raises StoreDown."""
        self._follow_host()
        began_ms = self._clock.now_ms()
        store_ms = await self._store.time_ms()
        offset_ms = (began_ms + self._clock.now_ms()) // 2 - store_ms
        is_moved = self._is_measured and abs(offset_ms - self._clock.offset_ms) > MAX_ERROR_MS
        self._is_measured = True
        self._clock.offset_ms = offset_ms
        self._metrics.offset.table()[""] = round(offset_ms / 1000)
        if is_moved:  # the store's clock was set, or another server took over
            log.warning("clock differs from the store's", offset_ms=offset_ms)
            self._on_change(0)

    def _follow_host(self) -> None:
        by_ms = self._clock.error_ms
        if abs(by_ms) <= MAX_ERROR_MS:
            return
        log.warning("clock of the host was set; following it", by_ms=by_ms)
        self._metrics.corrections.table()[""] += 1
        self._clock.correct(by_ms)
        self._on_change(by_ms)
