"""Builds the call-record slice: services of its routes, handlers of its background jobs."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from api.accounts.cache import AccountCache
from api.accounts.store import AccountStore
from api.cdrs.exports import KIND, CdrExporter, ExportService
from api.cdrs.live_events import LiveEvents
from api.cdrs.service import CdrService
from api.cdrs.sse_filter import EventIdCipher
from api.cdrs.store import CdrStore
from api.cdrs.views import SignUrl
from api.common.account_concurrency import LimitedSlots
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.http.event_stream import reader_limit
from api.jobs.artifacts import ArtifactStore, ArtifactWriter, ByteQuota
from api.jobs.store import JobStore
from api.jobs.worker import Handler
from api.transcripts.store import TranscriptStore


class CdrSlice(Struct, frozen=True):
    """The services of the slice, and its job handlers by kind."""

    records: CdrService
    exports: ExportService
    live: LiveEvents
    jobs: Mapping[str, Handler]


def build(  # noqa: PLR0913, PLR0917 - what the slice needs
    database: Database,
    engine: EngineClient,
    accounts: AccountStore,
    jobs: JobStore,
    quota: ByteQuota,
    secrets: Sequence[str],
    sign_url: SignUrl,
    transcripts: TranscriptStore,
    searches: LimitedSlots,
    now_ms: Clock,
) -> CdrSlice:
    cached = AccountCache(accounts, now_ms)
    cdrs, artifacts = CdrStore(database), ArtifactStore(database, now_ms)
    return CdrSlice(
        records=CdrService(cdrs, cached, transcripts, sign_url, searches, now_ms),
        exports=ExportService(database, cdrs, cached, jobs, artifacts, quota),
        live=LiveEvents(engine, EventIdCipher(secrets), reader_limit()),
        jobs={KIND: CdrExporter(cdrs, artifacts, ArtifactWriter(artifacts, quota)).run},
    )
