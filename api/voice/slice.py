"""Voice put together."""

from api.accounts.known import KnownAccounts
from api.accounts.store import Accounts
from api.clock import Clock
from api.db import Database
from api.engine_client import EngineClient
from api.voice.limits import CallLimits
from api.voice.service import VoiceService
from api.voice.store import Paces
from wire.tree import Limits


def put_together(
    database: Database, engine: EngineClient, accounts: Accounts, limits: Limits, clock: Clock
) -> VoiceService:
    """Make the service for calls."""
    paces = Paces(database, clock)
    return VoiceService(
        engine, KnownAccounts(accounts, clock), CallLimits(engine, paces, clock), limits
    )
