"""Builds the do-not-call slice."""

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.db.database import Database
from api.db.row_quota import RowQuota
from api.dnc.service import DncService, Engines
from api.dnc.store import DncStore, entry_limit
from api.dnc.tokens import DncTokenStore
from api.metrics import Metrics


def build(  # noqa: PLR0913, PLR0917 - what the slice needs
    database: Database,
    accounts: AccountStore,
    engines: Engines,
    metrics: Metrics,
    clock: Clock,
    max_entries: int,
) -> DncService:
    tokens, store = DncTokenStore(database, clock), DncStore(database, clock)
    return DncService(
        tokens,
        store,
        AccountCache(accounts, clock),
        engines,
        metrics.dnc_not_in_force,
        RowQuota(database, clock, entry_limit(max_entries)),
    )
