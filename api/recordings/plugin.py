"""Builds the recording slice."""

from collections.abc import Sequence

from api.cdrs.store import CdrStore
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.recordings.service import RecordingService
from api.recordings.signed_urls import UrlSigner


def build(
    database: Database, engine: EngineClient, secrets: Sequence[str], lifetime_s: int, now_ms: Clock
) -> RecordingService:
    return RecordingService(CdrStore(database), engine, UrlSigner(secrets, lifetime_s, now_ms))
