"""Voice put together."""

from api.accounts.known import KnownAccounts
from api.accounts.store import Accounts
from api.clock import Clock
from api.db import Database
from api.engine_client import EngineClient
from api.voice.counts import Counts
from api.voice.limits import CallLimits
from api.voice.service import VoiceService
from api.voice.store import Paces
from wire.tree import Limits


def put_together(
    database: Database, engine: EngineClient, accounts: Accounts, limits: Limits, clock: Clock
) -> VoiceService:
    """Make the service for calls."""
    call_limits = CallLimits(engine, Paces(database, clock), Counts(database, clock))
    return VoiceService(engine, KnownAccounts(accounts, clock), call_limits, limits)
