"""Accounts as they were within the last two seconds: every call that is made asks for its own."""

from msgspec import Struct

from api.accounts.store import Account, AccountStore
from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock

FRESH_MS = 2_000


class CachedAccount(Struct, frozen=True):
    """An account and its numbers."""

    account: Account
    numbers: tuple[str, ...]
    until_ms: int


class AccountCache:
    """Remembers accounts for a moment."""

    def __init__(self, accounts: AccountStore, now_ms: Clock) -> None:
        self._accounts = accounts
        self._now_ms = now_ms
        self._known: BoundedDict[str, CachedAccount] = BoundedDict()

    async def get(self, account_id: str) -> CachedAccount:
        """Give an account; raises NotFound."""
        known = self._known.get(account_id)
        if known is not None and known.until_ms > self._now_ms():
            return known
        account = await self._accounts.get(account_id)
        numbers = await self._accounts.numbers(account_id)
        return self._known.put(
            account_id, CachedAccount(account, numbers, self._now_ms() + FRESH_MS)
        )
