"""Listeners in this process's memory: the twin of those in Redis."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct, field

from engine.store.listeners import MAX_LISTENERS, ListenerState, StoredRequest
from engine.store.stream import entry_order
from wire.listeners import Listener

Found = TypeVar("Found")


class _Entry(Struct):
    listener: Listener
    lease_ms: int  # until when


class _Exchange(Struct):
    requests: list[StoredRequest] = field(default_factory=list)
    waits_ms: dict[str, int] = field(default_factory=dict)  # until when, by request
    responses: dict[str, bytes] = field(default_factory=dict)


class MemoryListeners:
    """Implements `ListenerStore`."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.renewals = 0
        self._now_ms = now_ms
        self._entries: dict[tuple[str, str], _Entry] = {}  # by account and id
        self._replaced: set[tuple[str, str]] = set()
        self._exchanges: dict[str, _Exchange] = {}
        self._changed = asyncio.Event()
        self._count = 0

    async def add(self, listener: Listener, lease_ms: int) -> bool:
        now_ms = self._now_ms()
        self._entries = {key: each for key, each in self._entries.items() if each.lease_ms > now_ms}
        own = [key for key in self._entries if key[0] == listener.account]
        same = [key for key in own if self._entries[key].listener.number == listener.number]
        same = [key for key in same if self._entries[key].listener.call_id == listener.call_id]
        if len(own) - len(same) >= MAX_LISTENERS:
            return False
        for key in same:
            del self._entries[key]
            self._replaced.add(key)
        until_ms = min(now_ms + lease_ms, listener.until_ms)
        self._entries[listener.account, listener.id] = _Entry(listener, until_ms)
        return True

    async def renew(self, account: str, listener: str, lease_ms: int) -> ListenerState:
        self.renewals += 1
        now_ms, entry = self._now_ms(), self._entries.get((account, listener))
        if entry is not None and now_ms < entry.listener.until_ms:
            entry.lease_ms = min(now_ms + lease_ms, entry.listener.until_ms)
            return "live"
        return "replaced" if (account, listener) in self._replaced else "ended"

    async def remove(self, account: str, listener: str) -> bool:
        return self._entries.pop((account, listener), None) is not None

    async def live(self) -> list[Listener]:
        now_ms = self._now_ms()
        return [each.listener for each in self._entries.values() if each.lease_ms > now_ms]

    async def offer(self, listener: str, request: str, body: bytes, wait_ms: int) -> str:
        exchange = self._exchanges.setdefault(listener, _Exchange())
        self._count += 1
        position = f"{self._now_ms()}-{self._count}"
        exchange.requests.append(StoredRequest(position, body))
        exchange.waits_ms[request] = self._now_ms() + wait_ms
        self._changed.set()
        return position

    async def requests(
        self, listener: str, after: str, wait_ms: int, limit: int
    ) -> list[StoredRequest]:
        exchange, first = self._exchanges.setdefault(listener, _Exchange()), entry_order(after)

        def find() -> list[StoredRequest]:
            return [each for each in exchange.requests if entry_order(each.position) > first]

        return (await self._wait_for(find, wait_ms))[:limit]

    async def respond(self, listener: str, request: str, body: bytes) -> bool:
        exchange = self._exchanges.setdefault(listener, _Exchange())
        if exchange.waits_ms.pop(request, 0) <= self._now_ms():
            return False
        exchange.responses[request] = body
        self._changed.set()
        return True

    async def response(self, listener: str, request: str, wait_ms: int) -> bytes | None:
        exchange = self._exchanges.setdefault(listener, _Exchange())
        return await self._wait_for(lambda: exchange.responses.get(request), wait_ms)

    async def withdraw(self, listener: str, request: str, position: str) -> None:
        exchange = self._exchanges.setdefault(listener, _Exchange())
        exchange.waits_ms.pop(request, None)
        exchange.responses.pop(request, None)
        exchange.requests = [each for each in exchange.requests if each.position != position]

    async def _wait_for(self, find: Callable[[], Found], wait_ms: int) -> Found:
        """Return what `find` finds, once it is something, or after a while."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_ms / 1000):
                while not find():
                    self._changed.clear()
                    await self._changed.wait()
        return find()
