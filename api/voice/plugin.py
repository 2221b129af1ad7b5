"""Voice put together."""

from api.accounts.cache import KnownAccounts
from api.accounts.store import Accounts
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.voice.limits import CallLimits
from api.voice.live_calls import Counts
from api.voice.rate_limits import Paces
from api.voice.service import VoiceService
from wire.tree import Limits


def put_together(
    database: Database, engine: EngineClient, accounts: Accounts, limits: Limits, clock: Clock
) -> VoiceService:
    """Make the service for calls."""
    call_limits = CallLimits(engine, Paces(database, clock), Counts(database, clock))
    return VoiceService(engine, KnownAccounts(accounts, clock), call_limits, limits)
