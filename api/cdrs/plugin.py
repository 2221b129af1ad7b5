"""The slice put together: what its routes ask, and what runs in the background."""

from collections.abc import Mapping

from msgspec import Struct

from api.cdrs.exports import job
from api.cdrs.exports.job import CdrExporter
from api.cdrs.exports.service import ExportService
from api.cdrs.live.sse_filter import EventIdCipher
from api.cdrs.live.stream import LiveEvents
from api.cdrs.service import CdrService
from api.cdrs.store import CdrStore
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.jobs.artifacts import ArtifactStore
from api.jobs.store import JobStore
from api.jobs.worker import Handler


class CdrSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    records: CdrService
    exports: ExportService
    live: LiveEvents
    jobs: Mapping[str, Handler]


def build(
    database: Database, engine: EngineClient, jobs: JobStore, secret: str, now_ms: Clock
) -> CdrSlice:
    """Make the slice's parts."""
    cdrs, parts = CdrStore(database), ArtifactStore(database, now_ms)
    return CdrSlice(
        records=CdrService(cdrs, now_ms),
        exports=ExportService(database, cdrs, jobs, parts),
        live=LiveEvents(engine, EventIdCipher(secret)),
        jobs={job.KIND: CdrExporter(cdrs, parts).run},
    )
