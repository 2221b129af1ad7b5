"""Builds the service for calls."""

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.voice.limits import CallLimits
from api.voice.live_calls import LiveCalls
from api.voice.rate_limits import RateLimits
from api.voice.service import EndedTimeline, VoiceService
from wire.tree import Limits


def build(  # noqa: PLR0913, PLR0917 - what the service needs
    database: Database,
    engine: EngineClient,
    accounts: AccountStore,
    limits: Limits,
    ended_timeline: EndedTimeline,
    clock: Clock,
) -> VoiceService:
    call_limits = CallLimits(engine, RateLimits(database, clock), LiveCalls(database, clock))
    return VoiceService(engine, AccountCache(accounts, clock), call_limits, limits, ended_timeline)
