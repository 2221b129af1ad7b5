"""Agents' phones in this process's memory: the twin of those in Redis."""

from collections.abc import Callable, Mapping

from engine.store.phones import RESERVED_MS
from engine.store.store import MAX_CHANGES
from tests.harness.memory_store.versioned_documents import MemoryVersionedDocuments


class MemoryPhones:
    """Implements `PhoneStore`."""

    def __init__(self, documents: MemoryVersionedDocuments, now_ms: Callable[[], int]) -> None:
        self._documents = documents
        self._now_ms = now_ms
        self._endpoints = documents.endpoints
        self._reserved = documents.reserved_endpoints

    async def all(self) -> dict[str, bytes]:
        return self._documents.table("phone").bodies()

    async def read(self, name: str) -> tuple[bytes | None, bool]:
        table = self._documents.table("phone")
        return table.bodies().get(name), name in table.entries or name in table.deleted

    async def changes(self, after: str) -> tuple[Mapping[str, bytes | None], str]:
        table, changes = self._documents.table("phone"), self._documents.phone_changes
        found: dict[str, bytes | None] = {**dict.fromkeys(table.deleted), **table.bodies()}
        position = f"{self._documents.losses}-{len(changes)}"
        losses, _, place = after.partition("-")
        if not after or int(losses) != self._documents.losses:
            return found, position
        changed = changes[int(place) :]
        if len(changed) >= MAX_CHANGES:
            return found, position
        return {name: found[name] for name in sorted(set(changed))}, position

    async def reserve(self, endpoint: str, account: str) -> str:
        owner = self._owner(endpoint, account)
        if owner == account:
            self._reserved[endpoint] = account, self._now_ms() + RESERVED_MS
        return owner

    async def claim(self, endpoint: str, account: str) -> str:
        owner = await self.reserve(endpoint, account)
        if owner == account:
            self._endpoints[endpoint] = account
        return owner

    async def release(self, endpoint: str, account: str) -> None:
        if self._endpoints.get(endpoint) == account:
            del self._endpoints[endpoint]
        if self._reserved.get(endpoint, ("", 0))[0] == account:
            del self._reserved[endpoint]

    async def release_unused(self, endpoint: str, account: str) -> None:
        if self._reserved.get(endpoint, ("", 0))[1] <= self._now_ms():
            await self.release(endpoint, account)

    async def owner(self, endpoint: str) -> str | None:
        return self._endpoints.get(endpoint)

    def _owner(self, endpoint: str, account: str) -> str:
        """Return the account that has an endpoint or has reserved it; without one, this one."""
        reserved, until_ms = self._reserved.get(endpoint, ("", 0))
        is_reserved = until_ms > self._now_ms()
        return self._endpoints.get(endpoint) or (reserved if is_reserved else account)
