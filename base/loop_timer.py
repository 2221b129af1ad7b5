"""Timers of the event loop that fire after what the process received by their time.

While the process is frozen (SIGSTOP, a paused host), data waits in the sockets, and a plain timer
that comes due meanwhile fires before the data is read.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

MAX_LATENESS_S = 0.05  # a timer that fires later has waited for a loop that did not run
CATCH_UP_S = 0.05  # what arrived meanwhile is read and handled first
MAX_CATCH_UPS = 5
# A reader is one turn behind its socket, and uvloop runs timers before it reads any.
LOOP_TURNS = 5


class LoopTimer:
    """A timer that can be cancelled.

    When it calls back, all that arrived until `reached_s` has been handled.
    """

    __slots__ = ("_callback", "_catch_ups", "_due_s", "_handle", "_loop", "reached_s")

    def __init__(
        self, loop: asyncio.AbstractEventLoop, when_s: float, callback: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._callback = callback
        self._catch_ups = 0
        self.reached_s = when_s
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
            self.reached_s = max(now_s, self._due_s)  # the loop's timers may be a bit early
            self._wait_turns(LOOP_TURNS)

    def _wait_turns(self, turns: int) -> None:
        if turns:
            self._handle = self._loop.call_soon(self._wait_turns, turns - 1)
        else:
            self._callback()


@asynccontextmanager
async def timeout_after_arrivals(timeout_s: float) -> AsyncIterator[None]:
    """Limit a time as `asyncio.timeout` does, but take what arrived within it."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer = LoopTimer(loop, loop.time() + timeout_s, lambda: limit.reschedule(loop.time()))
        try:
            yield
        finally:
            timer.cancel()
