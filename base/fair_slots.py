"""Slots that accounts share fairly: none takes all of them, and waiting accounts take turns.

Urgent requests go before others, and others leave one slot free for them.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar

from msgspec import Struct


def _nothing() -> None:
    pass


class Urgency(Struct, eq=False):
    """How urgent the requests of a task are; it may rise while one waits."""

    is_urgent: bool = True
    on_urgent: Callable[[], None] = _nothing

    def rise(self) -> None:
        """Go before requests that are not urgent."""
        if not self.is_urgent:
            self.is_urgent = True
            self.on_urgent()


URGENCY: ContextVar[Urgency | None] = ContextVar("urgency", default=None)  # of this task's requests


class _Request(Struct, eq=False):
    granted: asyncio.Future[None]
    urgency: Urgency


class FairSlots:
    """At most `slots` at once, and `of_account` of them for one account."""

    def __init__(self, slots: int, of_account: int) -> None:
        self._free = slots
        self._reserved = min(1, slots - 1)  # for urgent requests
        self._of_account = of_account
        self._used: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[_Request]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[None]:
        """Wait for a slot, in the order of the account's own requests, and use it."""
        await self._acquire(account)
        try:
            yield
        finally:
            self._release(account)

    async def _acquire(self, account: str) -> None:
        urgency = URGENCY.get() or Urgency()
        urgency.on_urgent = self._grant
        request = _Request(asyncio.get_running_loop().create_future(), urgency)
        self._waiting.setdefault(account, deque()).append(request)
        self._grant()
        try:
            await request.granted
        except asyncio.CancelledError:
            if request.granted.cancelled():
                self._remove(account, request)
            else:
                self._release(account)  # granted in the instant of the cancellation
            raise
        finally:
            urgency.on_urgent = _nothing

    def _release(self, account: str) -> None:
        self._free += 1
        self._used[account] -= 1
        if not self._used[account]:
            del self._used[account]
        self._grant()

    def _grant(self) -> None:
        for is_urgent in (True, False):
            for account in list(self._waiting):
                if self._free <= (0 if is_urgent else self._reserved):
                    break
                if self._used[account] < self._of_account:
                    self._grant_one(account, is_urgent=is_urgent)

    def _grant_one(self, account: str, *, is_urgent: bool) -> None:
        """Grant an account's first request of this urgency, and put the account behind others."""
        waiting = (each for each in self._waiting[account] if not each.granted.done())
        first = next((each for each in waiting if each.urgency.is_urgent == is_urgent), None)
        if first is None:
            return
        self._remove(account, first)
        if account in self._waiting:
            self._waiting.move_to_end(account)
        first.granted.set_result(None)
        self._used[account] += 1
        self._free -= 1

    def _remove(self, account: str, request: _Request) -> None:
        queue = self._waiting[account]
        queue.remove(request)
        if not queue:
            del self._waiting[account]
