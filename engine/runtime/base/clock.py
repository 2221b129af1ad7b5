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

    offset_ms: int  # how far it is ahead of the store's clock, as last measured

    def now_ms(self) -> int:
        """Return milliseconds since 1970."""

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        """Call back at that time, or on one of the next loop turns if it has passed."""


MAX_LATENESS_S = 0.05  # a timer that fires later has waited for a loop that did not run
CATCH_UP_S = 0.05  # what arrived meanwhile is read and handled first
MAX_CATCH_UPS = 5
# A reader is one turn behind its socket, and uvloop runs timers before it reads any.
LOOP_TURNS = 5


class LoopTimer:
    """A timer that fires after everything that the process had received by its time.

    While the process is frozen (SIGSTOP, a paused host), events wait in the sockets, and the
    timers that come due meanwhile would fire before them.
    """

    __slots__ = ("_callback", "_catch_ups", "_due_s", "_handle", "_loop")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, when_s: float, callback: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._callback = callback
        self._catch_ups = 0
        self._set(max(when_s, loop.time()))

    def cancel(self) -> None:
        self._handle.cancel()

    def _set(self, due_s: float) -> None:
        self._due_s = due_s
        self._handle: asyncio.Handle = self._loop.call_at(due_s, self._on_due)

    def _on_due(self) -> None:
        now_s = self._loop.time()
        if now_s - self._due_s > MAX_LATENESS_S and self._catch_ups < MAX_CATCH_UPS:
            self._catch_ups += 1
            self._set(now_s + CATCH_UP_S)
        else:
            self._wait_turns(LOOP_TURNS)

    def _wait_turns(self, turns: int) -> None:
        if turns:
            self._handle = self._loop.call_soon(self._wait_turns, turns - 1)
        else:
            self._callback()


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
        self._wall_s = wall_s
        self._to_wall_s = wall_s() - loop.time()

    def now_ms(self) -> int:
        return int((self._loop.time() + self._to_wall_s) * 1000)

    def call_at(self, when_ms: int, callback: Callable[[], None]) -> Timer:
        return LoopTimer(self._loop, when_ms / 1000 - self._to_wall_s, callback)

    @property
    def error_ms(self) -> int:
        """How far the host's clock is ahead of this one."""
        return round((self._wall_s() - self._loop.time() - self._to_wall_s) * 1000)

    def correct(self, by_ms: int) -> None:
        """Advance the clock; timers that are set fire when they would have fired."""
        self._to_wall_s += by_ms / 1000
        self.offset_ms += by_ms
