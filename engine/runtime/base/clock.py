"""The engine's clock: wall time in milliseconds, and timers on it."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from base.timers import TimerHeap


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
    (`clock_step_correction.py`).
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
