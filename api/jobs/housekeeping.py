"""What each process does at intervals, beside its requests and jobs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog
from msgspec import Struct
from sqlalchemy import func, select

from api.common.clock import Clock
from api.common.errors import ApiError
from api.db.database import Database
from api.jobs.store import UNFINISHED, jobs
from api.metrics import Metrics

log = structlog.get_logger()
CLEAN_UP_INTERVAL_S = 3_600.0
MONITOR_INTERVAL_S = 10.0
_OLDEST = (
    select(jobs.c.kind, func.min(jobs.c.created_ms))
    .where(jobs.c.state.in_(UNFINISHED))
    .group_by(jobs.c.kind)
)


@asynccontextmanager
async def background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a coroutine as a task until the context ends; then cancel it and wait for its end."""
    task = asyncio.create_task(work)
    task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    """Log the error of a task at once: nothing waits for the task until the service ends."""
    if not task.cancelled() and (error := task.exception()):
        log.error("background task failed", task=str(task.get_coro()), exc_info=error)


async def clean_up(
    delete_expired: Callable[[], Awaitable[None]], interval_s: float = CLEAN_UP_INTERVAL_S
) -> None:
    """Delete expired rows now and at each interval, until cancelled."""
    while True:
        try:
            await delete_expired()
        except ApiError as error:
            log.warning("cleanup failed", reason=error.detail)
        except Exception:
            log.exception("cleanup failed")  # the next one may succeed
        await asyncio.sleep(interval_s)


class Monitor(Struct, frozen=True):
    """Measures whether the database answers, and how old unfinished jobs are.

    Every process measures the same database: take the maximum of the ages.
    """

    database: Database
    metrics: Metrics
    kinds: frozenset[str]
    now_ms: Clock
    further: tuple[Callable[[], Awaitable[None]], ...] = ()  # measurements of the same kind

    async def run(self, interval_s: float = MONITOR_INTERVAL_S) -> None:
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
