"""Accounts, cached for two seconds: every originate request reads its account."""

from msgspec import Struct

from api.accounts.store import Account, AccountStore
from api.common.bounded_dict import BoundedDict
from api.common.clock import Clock
from api.common.errors import NotFound
from wire.phone_numbers.e164 import region_of

TTL_MS = 2_000


class CachedAccount(Struct, frozen=True):
    """An account and its numbers."""

    account: Account
    numbers: tuple[str, ...]
    until_ms: int

    @property
    def region(self) -> str | None:
        """The country of numbers without a country code: the account's, or that of its numbers."""
        return region_of(self.account.region, self.numbers)


class AccountCache:
    def __init__(self, accounts: AccountStore, now_ms: Clock) -> None:
        self._accounts = accounts
        self._now_ms = now_ms
        self._cached: BoundedDict[str, CachedAccount] = BoundedDict()

    async def get(self, account_id: str) -> CachedAccount:
        """Return an account; raises NotFound."""
        cached = self._cached.get(account_id)
        if cached is not None and cached.until_ms > self._now_ms():
            return cached
        account = await self._accounts.get(account_id)
        numbers = await self._accounts.numbers(account_id)
        until_ms = self._now_ms() + TTL_MS
        return self._cached.put(account_id, CachedAccount(account, numbers, until_ms))

    async def region(self, account_id: str) -> str | None:
        """Return an account's region; None also for an account that only engines know."""
        try:
            return (await self.get(account_id)).region
        except NotFound:
            return None

    async def has_transcripts(self, account_id: str) -> bool:
        """Return whether an account's recordings are transcribed."""
        try:
            return (await self.get(account_id)).account.transcripts is not None
        except NotFound:
            return False
