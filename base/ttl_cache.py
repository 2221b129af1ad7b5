"""A cache with a time to live and single-flight reads: concurrent misses cause one read."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from msgspec import Struct

DEFAULT_TTL_MS = 1_000
MAX_ENTRIES = 10_000  # callers choose the keys: bound the memory

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cached(Struct, Generic[V], frozen=True):
    """A value, and when it was read."""

    value: V
    at_ms: int


class TtlCache(Generic[K, V]):
    """Caches what `read` returns for a key, by default for a second."""

    def __init__(
        self,
        read: Callable[[K], Awaitable[V]],
        now_ms: Callable[[], int],
        ttl_ms: int = DEFAULT_TTL_MS,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        self._read = read
        self._now_ms = now_ms
        self._ttl_ms = ttl_ms
        self._max_entries = max_entries
        self._entries: dict[K, Cached[V]] = {}
        self._reads: dict[K, asyncio.Task[V]] = {}

    def get_fresh(self, key: K) -> Cached[V] | None:
        """Return the entry if it has not expired."""
        entry = self._entries.get(key)
        return entry if entry and entry.at_ms + self._ttl_ms > self._now_ms() else None

    def get_stale(self, key: K) -> Cached[V] | None:
        """Return the last entry, however old."""
        return self._entries.get(key)

    async def get(self, key: K) -> V:
        """Return the cached value, or read it; raises what `read` raises."""
        if entry := self.get_fresh(key):
            return entry.value
        if key not in self._reads:
            self._reads[key] = asyncio.get_running_loop().create_task(self._reread(key))
        return await asyncio.shield(self._reads[key])  # a cancelled caller must not fail the others

    def put(self, key: K, value: V) -> None:
        """Store a value that is current now."""
        if len(self._entries) >= self._max_entries:
            self._entries.clear()
        self._entries[key] = Cached(value, self._now_ms())

    async def _reread(self, key: K) -> V:
        try:
            value = await self._read(key)
        finally:
            del self._reads[key]
        self.put(key, value)
        return value
