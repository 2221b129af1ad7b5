"""Builds the recording slice."""

from api.cdrs.store import CdrStore
from api.db.database import Database
from api.engine_client import EngineClient
from api.recordings.service import RecordingService
from api.recordings.signed_urls import UrlSigner


def build(database: Database, engine: EngineClient, signer: UrlSigner) -> RecordingService:
    return RecordingService(CdrStore(database), engine, signer)
