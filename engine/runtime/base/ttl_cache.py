"""What the store said a moment ago: however many ask at once, it is read once."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from msgspec import Struct

DEFAULT_TTL_MS = 1_000
MAX_ENTRIES = 10_000  # callers choose what is asked for: keep a bound

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cached(Struct, Generic[V], frozen=True):
    """What was read, and when."""

    value: V
    at_ms: int


class TtlCache(Generic[K, V]):
    """Reads by a key and remembers it for a moment: what is busy costs one read a second."""

    def __init__(
        self,
        read: Callable[[K], Awaitable[V]],
        now_ms: Callable[[], int],
        fresh_ms: int = DEFAULT_TTL_MS,
        most: int = MAX_ENTRIES,
    ) -> None:
        self._read = read
        self._now_ms = now_ms
        self._fresh_ms = fresh_ms
        self._most = most
        self._known: dict[K, Cached[V]] = {}
        self._asked: dict[K, asyncio.Task[V]] = {}

    def fresh(self, key: K) -> Cached[V] | None:
        """Give what is remembered; None: it must be read."""
        known = self._known.get(key)
        return known if known and known.at_ms + self._fresh_ms > self._now_ms() else None

    def last(self, key: K) -> Cached[V] | None:
        """Give what was read last, however old."""
        return self._known.get(key)

    async def get(self, key: K) -> V:
        """Give what is remembered, or read it; raises what reading raises."""
        if known := self.fresh(key):
            return known.value
        if key not in self._asked:
            self._asked[key] = asyncio.get_running_loop().create_task(self._reread(key))
        return await asyncio.shield(self._asked[key])  # one who leaves must not fail the others

    def learn(self, key: K, value: V) -> None:
        """Remember what was written just now."""
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[key] = Cached(value, self._now_ms())

    async def _reread(self, key: K) -> V:
        try:
            value = await self._read(key)
        finally:
            del self._asked[key]
        self.learn(key, value)
        return value
