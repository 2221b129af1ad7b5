"""Builds the recording slice."""

from api.accounts.store import AccountStore
from api.cdrs.store import CdrStore
from api.db.database import Database
from api.engine_client import EngineClient
from api.recordings.service import RecordingService, RecordingTranscripts, UrlSigner
from api.transcripts.plugin import TranscriptSlice


def build(
    database: Database,
    engine: EngineClient,
    accounts: AccountStore,
    signer: UrlSigner,
    transcripts: TranscriptSlice,
) -> RecordingService:
    cdrs = CdrStore(database)
    own = RecordingTranscripts(cdrs, accounts, transcripts.store, transcripts.queue)
    return RecordingService(cdrs, engine, signer, own)
