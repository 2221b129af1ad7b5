"""Timers behind one timer of the event loop: each costs a third of the memory of the loop's own."""

import asyncio
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count
from math import inf

from base.loop_timer import LoopTimer

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
