"""Terms in this process's memory: the twin of `redis_terms`."""

from collections.abc import Sequence

from wire.dial_policy import DncListChange


class _DncList:
    def __init__(self) -> None:
        self.numbers: set[str] = set()
        self.version = 0
        self.is_whole = False


class MemoryDialPolicyStore:
    """Implements `terms.TermsStore`."""

    def __init__(self) -> None:
        self._terms: dict[str, bytes] = {}
        self._lists: dict[str, _DncList] = {}

    async def put(self, account: str, body: bytes) -> None:
        """See TermsStore."""
        self._terms[account] = body

    async def get(self, account: str) -> bytes | None:
        """See TermsStore."""
        return self._terms.get(account)

    async def all(self) -> dict[str, bytes]:
        """See TermsStore."""
        return dict(self._terms)

    async def change_list(self, account: str, change: DncListChange) -> int:
        """See TermsStore."""
        kept = self._lists.get(account, _DncList())
        if change.after not in {0, kept.version}:
            return kept.version
        if change.after == 0:
            kept = _DncList()
        kept.numbers = (kept.numbers | set(change.add)) - set(change.remove)
        kept.is_whole = kept.is_whole or change.is_whole
        kept.version = change.version
        self._lists[account] = kept
        return kept.version

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        """See TermsStore."""
        return [self._lists.get(account, _DncList()).version for account in accounts]

    async def delete_list(self, account: str) -> None:
        """See TermsStore."""
        self._lists.pop(account, None)

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        """See TermsStore."""
        kept = self._lists.get(account, _DncList())
        return not kept.numbers.isdisjoint(numbers) if kept.is_whole else None
