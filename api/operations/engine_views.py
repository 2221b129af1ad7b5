"""The engines' views of themselves, read at most once a second for all who look at them.

A page of operators requests several parts of them every few seconds, and each read asks every
engine.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from wire.cluster import Engines

CACHE_S = 1.0
Read = Callable[[], Awaitable[Engines]]


class EngineViews:
    """Shares a read among the requests that wait for it, and its result with those that follow."""

    def __init__(self, read: Read, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._monotonic = monotonic
        self._reading: asyncio.Task[Engines] | None = None
        self._last = Engines(())
        self._until_s = float("-inf")

    async def get(self) -> Engines:
        """Return the views; raises what the read raises."""
        if self._reading is None:
            if self._monotonic() < self._until_s:
                return self._last
            self._reading = asyncio.create_task(self._reread())
            self._reading.add_done_callback(_retrieve)
        return await asyncio.shield(self._reading)  # a cancelled request fails no other

    async def _reread(self) -> Engines:
        try:
            self._last = await self._read()
            self._until_s = self._monotonic() + CACHE_S
        finally:
            self._reading = None
        return self._last


def _retrieve(done: "asyncio.Task[Engines]") -> None:
    """Take note of an error for which no request waits any more."""
    if not done.cancelled():
        done.exception()
