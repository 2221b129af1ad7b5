"""The engine's clock: wall time in milliseconds, and timers on it."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None:
        """Cancel the timer; harmless once it has fired."""


class Clock(Protocol):
    """The only source of time in the runtime; the simulator replaces it."""

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Call back at that time, or on the next loop turn if it has passed."""


class LoopClock:
    """The event loop's clock plus a fixed offset, so that wall-clock jumps move no timer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._offset_s = time.time() - loop.time()

    def now_ms(self) -> int:
        return int((self._loop.time() + self._offset_s) * 1000)

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        return self._loop.call_at(when_ms / 1000 - self._offset_s, callback)
