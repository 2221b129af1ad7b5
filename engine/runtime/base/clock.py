"""The one clock of an engine: wall time in milliseconds, and a timer on it."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A timer that can be called off."""

    def cancel(self) -> None:
        """Call it off; harmless when it has fired."""


class Clock(Protocol):
    """What the shell knows of time."""

    def now_ms(self) -> int:
        """Give the wall clock's milliseconds."""

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Call back at a wall-clock moment, or at once if it has passed."""


class LoopClock:
    """The event loop's clock, tied to the wall clock once: one that jumps moves no timer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._offset_s = time.time() - loop.time()

    def now_ms(self) -> int:
        """Give milliseconds since 1970."""
        return int((self._loop.time() + self._offset_s) * 1000)

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Call back on the loop, never before the moment."""
        return self._loop.call_at(when_ms / 1000 - self._offset_s, callback)
