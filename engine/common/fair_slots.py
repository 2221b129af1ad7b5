"""Slots that accounts share fairly: none takes all of them, and waiting accounts take turns."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairSlots:
    """At most `slots` at once, and `of_account` of them for one account."""

    def __init__(self, slots: int, of_account: int) -> None:
        self._free = slots
        self._of_account = of_account
        self._used: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, account: str) -> AsyncIterator[None]:
        """Wait for a slot, in the order of the account's own requests, and use it."""
        await self._acquire(account)
        try:
            yield
        finally:
            self._release(account)

    async def _acquire(self, account: str) -> None:
        granted = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account, deque()).append(granted)
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self._release(account)  # granted in the instant of the cancellation
            raise

    def _release(self, account: str) -> None:
        self._free += 1
        self._used[account] -= 1
        if not self._used[account]:
            del self._used[account]
        self._grant()

    def _grant(self) -> None:
        for account in list(self._waiting):
            if not self._free:
                return
            if self._used[account] < self._of_account:
                self._grant_one(account)

    def _grant_one(self, account: str) -> None:
        queue = self._waiting.pop(account)
        while queue:
            granted = queue.popleft()
            if granted.done():  # cancelled
                continue
            granted.set_result(None)
            self._used[account] += 1
            self._free -= 1
            break
        if queue:
            self._waiting[account] = queue  # behind the others
