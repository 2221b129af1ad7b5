"""Does jobs, one after another, for as long as the process lives.

    async def export(job: Job, progress: Progress) -> dict[str, Any]: …
    working(jobs, {"cdr-export": export}, metrics)

A handler may be cancelled at any await: when the process ends, or when its lease was lost.
"""

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog

from api.common.errors import ApiError
from api.jobs.store import LEASE_MS, Job, JobStore, LeaseLost
from api.metrics import Metrics

log = structlog.get_logger()
Progress = Callable[[int, int | None], Awaitable[None]]
Handler = Callable[[Job, Progress], Awaitable[dict[str, Any]]]
POLL_INTERVAL_S = 1.0


class PermanentFailure(Exception):
    """A job that no other attempt can do either; its text is shown to the customer."""


class RetryableFailure(Exception):
    """A job that another attempt may well do; its text is shown to the customer, too."""


class Worker:
    """One worker: claims, does, tells."""

    def __init__(
        self,
        jobs: JobStore,
        handlers: Mapping[str, Handler],
        metrics: Metrics,
        hold_s: float = LEASE_MS / 3_000,
    ) -> None:
        self._jobs = jobs
        self._handlers = handlers
        self._metrics = metrics
        self._hold_s = hold_s
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"

    async def run(self, look_s: float = POLL_INTERVAL_S) -> None:
        """Work until cancelled; a database that is away is waited for."""
        while True:
            try:
                found = await self.once()
            except ApiError as error:
                log.warning("no jobs", reason=error.detail)
                found = False
            except Exception:
                log.exception("no jobs")  # whatever it is, the next look may be well
                found = False
            if not found:
                await asyncio.sleep(look_s)

    async def once(self) -> bool:
        """Do the next job, if there is one."""
        job = await self._jobs.claim(self._name, list(self._handlers))
        if job is None:
            return False
        with suppress(LeaseLost):
            await self._execute(job)
        return True

    async def _execute(self, job: Job) -> None:
        try:
            result = await self._run_with_lease(job)
        except LeaseLost:
            self._count(job, "lost")
            raise
        except PermanentFailure as error:
            self._count(job, "failed")
            await self._jobs.fail(job, str(error), for_good=True)
        except RetryableFailure as error:
            log.warning("job put off", job=job.id, kind=job.kind, attempt=job.attempts)
            self._count(job, "failed")
            await self._jobs.fail(job, str(error))
        except Exception:
            log.exception("job failed", job=job.id, kind=job.kind, attempt=job.attempts)
            self._count(job, "failed")
            await self._jobs.fail(job, "internal_error")
        else:
            self._count(job, "done")
            await self._jobs.finish(job, result)

    async def _run_with_lease(self, job: Job) -> dict[str, Any]:
        async def progress(done: int, total: int | None) -> None:
            await self._jobs.progress(job, done, total)

        async def holding() -> None:
            while True:
                await asyncio.sleep(self._hold_s)
                with suppress(ApiError):  # a database that is back in time has the lease still
                    await self._jobs.hold(job)

        work = asyncio.ensure_future(self._handlers[job.kind](job, progress))
        hold = asyncio.create_task(holding())
        try:
            await asyncio.wait((work, hold), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                hold.result()  # raises: it ends in no other way
            return work.result()
        finally:
            for task in (work, hold):
                task.cancel()
            await asyncio.gather(work, hold, return_exceptions=True)

    def _count(self, job: Job, outcome: str) -> None:
        self._metrics.jobs.labels(job.kind, outcome).inc()


@asynccontextmanager
async def run_worker(
    jobs: JobStore, handlers: Mapping[str, Handler], metrics: Metrics
) -> AsyncIterator[None]:
    """Work for as long as the context lasts; without handlers there is nothing to do."""
    if not handlers:
        yield
        return
    task = asyncio.create_task(Worker(jobs, handlers, metrics).run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
