"""Dial policies in this process's memory: the twin of those in Redis."""

from collections.abc import Sequence

from wire.dial_policy import DncListChange


class _DncList:
    def __init__(self) -> None:
        self.numbers: set[str] = set()
        self.version = 0
        self.is_complete = False


class MemoryDialPolicyStore:
    """Implements `DialPolicyStore`."""

    def __init__(self) -> None:
        self._policies: dict[str, bytes] = {}
        self._lists: dict[str, _DncList] = {}

    async def put(self, account: str, body: bytes) -> None:
        self._policies[account] = body

    async def get(self, account: str) -> bytes | None:
        return self._policies.get(account)

    async def all(self) -> dict[str, bytes]:
        return dict(self._policies)

    async def change_list(self, account: str, change: DncListChange) -> int:
        stored = self._lists.get(account, _DncList())
        if change.after not in {0, stored.version}:
            return stored.version
        if change.after == 0:
            stored = _DncList()
        stored.numbers = (stored.numbers | set(change.add)) - set(change.remove)
        stored.is_complete = stored.is_complete or change.is_whole
        stored.version = change.version
        self._lists[account] = stored
        return stored.version

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        return [self._lists.get(account, _DncList()).version for account in accounts]

    async def delete_list(self, account: str) -> None:
        self._lists.pop(account, None)

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        stored = self._lists.get(account, _DncList())
        return not stored.numbers.isdisjoint(numbers) if stored.is_complete else None
