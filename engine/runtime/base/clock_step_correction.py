"""Corrects the engine's clock, and measures how far it is from the store's.

The host's clock may be wrong by hours when the engine starts, and be set later. The engine's clock
follows it, and moves the times of live calls with it: no deadline comes earlier or later.
"""

import asyncio
from collections.abc import Callable

import structlog

from engine.observe.metrics import Metrics
from engine.runtime.base.clock import LoopClock
from engine.store.errors import StoreDown
from engine.store.store import Store

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
