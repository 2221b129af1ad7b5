"""Measures what no request shows: whether the database answers, and how old unfinished jobs are."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from msgspec import Struct
from sqlalchemy import func, select

from api.common.clock import Clock
from api.common.errors import ApiError
from api.db.database import Database
from api.jobs.tables import UNFINISHED, jobs
from api.metrics import Metrics

INTERVAL_S = 10.0
log = structlog.get_logger()
_OLDEST = (
    select(jobs.c.kind, func.min(jobs.c.created_ms))
    .where(jobs.c.state.in_(UNFINISHED))
    .group_by(jobs.c.kind)
)


class Monitor(Struct, frozen=True):
    """Every process measures the same database: take the maximum of the ages."""

    database: Database
    metrics: Metrics
    kinds: frozenset[str]
    now_ms: Clock
    further: tuple[Callable[[], Awaitable[None]], ...] = ()  # measurements of the same kind

    async def run(self, interval_s: float = INTERVAL_S) -> None:
        """Measure now and at each interval, until cancelled."""
        while True:
            try:
                await self.once()
            except ApiError as error:
                log.warning("database does not answer", reason=error.detail)
            await asyncio.sleep(interval_s)

    async def once(self) -> None:
        """Measure; raises ApiError if the database does not answer."""
        try:
            rows = await self.database.rows(_OLDEST)
            for measure in self.further:
                await measure()
        except ApiError:
            self.metrics.database_up.set(0)
            raise
        self.metrics.database_up.set(1)
        created_ms = {kind: int(oldest) for kind, oldest in rows}
        now_ms = self.now_ms()
        for kind in self.kinds | created_ms.keys():
            age_ms = now_ms - created_ms.get(kind, now_ms)
            self.metrics.job_age.labels(kind).set(max(0, age_ms) / 1_000)
