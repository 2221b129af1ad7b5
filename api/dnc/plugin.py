"""Builds the do-not-call slice."""

from collections.abc import Callable

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.db.database import Database
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore


def build(
    database: Database, accounts: AccountStore, on_change: Callable[[str], None], clock: Clock
) -> DncService:
    """Build the service; `on_change` is called with the account whose list has changed."""
    tokens, store = DncTokenStore(database, clock), DncStore(database, clock)
    return DncService(tokens, store, AccountCache(accounts, clock), on_change)
