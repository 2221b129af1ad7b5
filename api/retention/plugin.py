"""Builds the removal of personal data."""

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.cdrs.removal import CdrRemoval
from api.cdrs.store import CdrStore
from api.common.clock import Clock
from api.contacts.erasure import ContactErasure
from api.contacts.quotas import ContactQuotas
from api.contacts.tags.store import TagStore
from api.db.database import Database
from api.engine_client import EngineClient
from api.retention.calls import CallRemoval
from api.retention.erasure import Erasure, JobErasure
from api.retention.expiry import Expiry
from api.transcripts.store import TranscriptStore


class RetentionSlice(Struct, frozen=True):
    """The job that removes what has expired, and the erasure of persons."""

    expiry: Expiry
    erasure: Erasure


def build(
    database: Database,
    engine: EngineClient,
    accounts: AccountStore,
    transcripts: TranscriptStore,
    now_ms: Clock,
) -> RetentionSlice:
    removal, cached = CdrRemoval(database), AccountCache(accounts, now_ms)
    calls = CallRemoval(removal, CdrStore(database), transcripts, engine, cached, now_ms)
    return RetentionSlice(
        Expiry(accounts, removal, calls, now_ms),
        Erasure(
            database,
            engine,
            cached,
            removal,
            calls,
            ContactErasure(database, TagStore(database, ContactQuotas(database))),
            JobErasure(database),
        ),
    )
