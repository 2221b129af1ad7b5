"""Limits failed authentications: guessing is slow, and cannot keep the processor busy."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import TooManyRequests, Unauthenticated

NOT_AUTHENTICATED = "User not authenticated"
MAX_FAILURES = 10
WINDOW_MS = 60_000
PACE_S = 1.0  # between attempts of a client with too many failures
MAX_WAITING = 5  # attempts of such a client


class Throttle:
    """Counts failures by client, in windows of a minute, in this process only."""

    def __init__(
        self, now_ms: Clock, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._now_ms = now_ms
        self._sleep = sleep
        self._waiting: Counter[str] = Counter()
        self._failures: BoundedDict[str, tuple[int, int]] = BoundedDict()  # end of window, count

    def check(self, client: str) -> None:
        """Raise TooManyRequests for a client with too many failures."""
        left_ms = self._left_ms(client)
        if left_ms > 0:
            raise TooManyRequests(
                "too many failures to authenticate", retry_after_s=-(-left_ms // 1_000)
            )

    @asynccontextmanager
    async def paced(self, client: str) -> AsyncIterator[None]:
        """Slow down a client with too many failures; raises Unauthenticated if too many wait.

        A client with the right key behind the same address waits, but is served.
        """
        if self._left_ms(client) <= 0:
            yield
            return
        if self._waiting[client] >= MAX_WAITING:
            raise Unauthenticated(NOT_AUTHENTICATED)
        self._waiting[client] += 1
        try:
            await self._sleep(PACE_S * self._waiting[client])
            yield
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]

    def _left_ms(self, client: str) -> int:
        until_ms, count = self._failures.get(client) or (0, 0)
        return max(0, until_ms - self._now_ms()) if count >= MAX_FAILURES else 0

    def record_failure(self, client: str) -> None:
        now_ms = self._now_ms()
        until_ms, count = self._failures.get(client) or (0, 0)
        if until_ms <= now_ms:
            until_ms, count = now_ms + WINDOW_MS, 0
        self._failures.put(client, (until_ms, count + 1))
