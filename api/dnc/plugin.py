"""Builds the do-not-call slice."""

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.db.database import Database
from api.dnc.service import DncService, Engines
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore
from api.metrics import Metrics


def build(
    database: Database, accounts: AccountStore, engines: Engines, metrics: Metrics, clock: Clock
) -> DncService:
    tokens, store = DncTokenStore(database, clock), DncStore(database, clock)
    return DncService(
        tokens, store, AccountCache(accounts, clock), engines, metrics.dnc_not_in_force
    )
