"""Do-not-call put together."""

from api.accounts.cache import KnownAccounts
from api.accounts.store import Accounts
from api.common.clock import Clock
from api.db.database import Database
from api.dnc.service import DncService
from api.dnc.store import DncStore
from api.dnc.tokens import DncTokens
from api.policy_sync.sync import Pusher


def put_together(
    database: Database, accounts: Accounts, pusher: Pusher, clock: Clock
) -> DncService:
    """Make the service for lists."""
    tokens, store = DncTokens(database, clock), DncStore(database, clock)
    return DncService(tokens, store, KnownAccounts(accounts, clock), pusher.nudge)
