"""The slice put together: what its routes ask, and what runs in the background."""

from collections.abc import Mapping

from msgspec import Struct

from api.cdrs import export
from api.cdrs.export import Exporter
from api.cdrs.exports import Exports
from api.cdrs.frames import Seal
from api.cdrs.live import Live
from api.cdrs.service import Service
from api.cdrs.store import Cdrs
from api.clock import Clock
from api.db import Database
from api.engine_client import EngineClient
from api.jobs.parts import Parts
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
        jobs={export.KIND: Exporter(cdrs, parts).run},
    )
