"""Timers of the event loop: late ones let what arrived go first, and many of them share one.

While the process is frozen (SIGSTOP, a paused host), data waits in the sockets, and a plain timer
that comes due meanwhile fires before the data is read.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf

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


MIN_CANCELLED = 100  # before the heap is cleaned up


class HeapTimer:
    """A timer that can be cancelled."""

    __slots__ = ("_heap", "callback")

    def __init__(self, heap: "TimerHeap", callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback
        self._heap = heap

    def cancel(self) -> None:
        if self.callback is not None:
            self.callback = None
            self._heap.count_cancelled()

    def run(self) -> None:
        """Call back once, unless it was cancelled."""
        callback, self.callback = self.callback, None
        if callback is not None:
            callback()


class TimerHeap:
    """Calls back in the order of time, as a `LoopTimer` does: after what arrived by then."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._entries: list[tuple[float, int, HeapTimer]] = []
        self._numbers = count()  # of two timers at the same time the older one fires first
        self._cancelled = 0  # entries
        self._next: LoopTimer | None = None
        self._next_s = inf

    def __len__(self) -> int:
        """Return the number of timers, with some that are cancelled."""
        return len(self._entries)

    def call_at(self, when_s: float, callback: Callable[[], None]) -> HeapTimer:
        """Call back at a time of the loop's clock."""
        timer = HeapTimer(self, callback)
        heappush(self._entries, (when_s, next(self._numbers), timer))
        if when_s < self._next_s:
            self._set_next()
        return timer

    def count_cancelled(self) -> None:
        """Remove the entries of cancelled timers when they are most of the heap."""
        self._cancelled += 1
        if self._cancelled > max(MIN_CANCELLED, len(self._entries) // 2):
            self._entries = [entry for entry in self._entries if entry[2].callback is not None]
            heapify(self._entries)
            self._cancelled = 0

    def _set_next(self) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next, self._next_s = None, inf
        if self._entries:
            self._next_s = self._entries[0][0]
            self._next = LoopTimer(self._loop, self._next_s, self._run_due)

    def _run_due(self) -> None:
        due_s = self._next.reached_s if self._next else -inf
        while self._entries and self._entries[0][0] <= due_s:
            timer = heappop(self._entries)[2]
            if timer.callback is None:
                self._cancelled -= 1
            else:
                self._loop.call_soon(timer.run)  # an exception ends no other timer
        self._set_next()
