"""Accounts that are kept for a moment, so that a request need not read them."""

from api.accounts.cache import TTL_MS, AccountCache
from api.accounts.store import Account, AccountStore
from api.common.clock import now_ms
from api.db.database import Database


async def test_a_change_is_seen_when_the_time_is_over(database: Database) -> None:
    """Until then the account is the one that was read first."""
    store, time_ms = AccountStore(database, now_ms), 0
    cache = AccountCache(store, lambda: time_ms)
    await store.add(Account("acme", "Acme", region="NO"))
    assert await cache.region("acme") == "NO"
    await store.change(Account("acme", "Acme", region="SE"))
    time_ms = TTL_MS - 1
    assert await cache.region("acme") == "NO"
    time_ms = TTL_MS
    assert await cache.region("acme") == "SE"


async def test_an_account_that_only_engines_know(database: Database) -> None:
    """It has no region."""
    assert await AccountCache(AccountStore(database, now_ms), now_ms).region("unknown") is None
