"""The slice put together: what its routes ask, and what runs in the background."""

from collections.abc import Mapping

from msgspec import Struct

from api.cdrs.exports import job
from api.cdrs.exports.job import Exporter
from api.cdrs.exports.service import Exports
from api.cdrs.live.sse_filter import Seal
from api.cdrs.live.stream import Live
from api.cdrs.service import Service
from api.cdrs.store import Cdrs
from api.common.clock import Clock
from api.db.database import Database
from api.engine_client import EngineClient
from api.jobs.artifacts import Parts
from api.jobs.store import Jobs
from api.jobs.worker import Handler


class CdrSlice(Struct, frozen=True):
    """What routes ask, by what it is about."""

    records: Service
    exports: Exports
    live: Live
    jobs: Mapping[str, Handler]


def put_together(
    database: Database, engine: EngineClient, jobs: Jobs, secret: str, now_ms: Clock
) -> CdrSlice:
    """Make the slice's parts."""
    cdrs, parts = Cdrs(database), Parts(database, now_ms)
    return CdrSlice(
        records=Service(cdrs, now_ms),
        exports=Exports(database, cdrs, jobs, parts),
        live=Live(engine, Seal(secret)),
        jobs={job.KIND: Exporter(cdrs, parts).run},
    )
