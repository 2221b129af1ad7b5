"""Do-not-call put together."""

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.db.database import Database
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore
from api.policy_sync.sync import PolicySync


def build(
    database: Database, accounts: AccountStore, pusher: PolicySync, clock: Clock
) -> DncService:
    """Make the service for lists."""
    tokens, store = DncTokenStore(database, clock), DncStore(database, clock)
    return DncService(tokens, store, AccountCache(accounts, clock), pusher.notify)
