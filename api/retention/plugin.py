"""Builds the removal of personal data."""

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.cdrs.removal import CdrRemoval
from api.cdrs.store import CdrStore
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.retention.calls import CallRemoval
from api.retention.expiry import Expiry


def build(
    database: Database, engine: EngineClient, accounts: AccountStore, now_ms: Clock
) -> Expiry:
    removal, cached = CdrRemoval(database), AccountCache(accounts, now_ms)
    calls = CallRemoval(removal, CdrStore(database), engine, cached, now_ms)
    return Expiry(accounts, removal, calls, now_ms)
