"""Runs background jobs one after another, until cancelled.

    async def export(job: Job, progress: Progress) -> dict[str, Any]: …
    await Worker(jobs, {"cdr-export": export}, metrics).run()

A handler may be cancelled at any await: when the process ends, or when its lease is lost.
"""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import structlog

from api.common.errors import ApiError
from api.db.database import work_of
from api.jobs.store import LEASE_MS, MAX_ATTEMPTS, Job, JobStore, LeaseLost
from api.metrics import Metrics

log = structlog.get_logger()
Progress = Callable[[int, int | None], Awaitable[None]]
Handler = Callable[[Job, Progress], Awaitable[dict[str, Any]]]
POLL_INTERVAL_S = 1.0
T = TypeVar("T")


class PermanentFailure(Exception):
    """The job fails in every attempt; the message is shown to the customer."""


class RetryableFailure(Exception):
    """Another attempt may succeed; the message is shown to the customer."""


class Worker:
    """Claims jobs, runs their handlers, and stores the results."""

    def __init__(
        self,
        jobs: JobStore,
        handlers: Mapping[str, Handler],
        metrics: Metrics,
        renew_interval_s: float = LEASE_MS / 3_000,
    ) -> None:
        self._jobs = jobs
        self._handlers = handlers
        self._metrics = metrics
        self._renew_interval_s = renew_interval_s
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"

    async def run(self, poll_interval_s: float = POLL_INTERVAL_S) -> None:
        """Run jobs until cancelled; an unavailable database is retried."""
        while True:
            try:
                found = await self.once()
            except ApiError as error:
                log.warning("job poll failed", reason=error.detail)
                found = False
            except Exception:
                log.exception("job poll failed")  # the next poll may succeed
                found = False
            if not found:
                await asyncio.sleep(poll_interval_s)

    async def once(self) -> bool:
        """Run the next job; return whether there was one."""
        job = await self._jobs.claim(self._name, list(self._handlers))
        if job is None:
            return False
        program = work_of.set(job.account_id)
        try:
            await self._execute(job)
        except LeaseLost:
            pass
        except asyncio.CancelledError:  # the process is stopped: that is no failed attempt
            with suppress(ApiError, LeaseLost):
                await self._jobs.release(job)
            raise
        finally:
            work_of.reset(program)
        return True

    async def _execute(self, job: Job) -> None:
        if job.attempts > MAX_ATTEMPTS:
            log.error("job ended its processes", job=job.id, kind=job.kind)
            self._count(job, "failed")
            await self._jobs.fail(job, "each attempt ended with its process", for_good=True)
            return
        try:
            result = await self._run_with_lease(job)
        except LeaseLost:
            self._count(job, "lost")
            raise
        except PermanentFailure as error:
            self._count(job, "failed")
            await self._jobs.fail(job, str(error), for_good=True)
        except RetryableFailure as error:
            log.warning("job failed, retrying", job=job.id, kind=job.kind, attempt=job.attempts)
            self._count(job, "failed")
            await self._jobs.fail(job, str(error))
        except Exception:
            log.exception("job failed", job=job.id, kind=job.kind, attempt=job.attempts)
            self._count(job, "failed")
            await self._jobs.fail(job, "internal")
        else:
            self._count(job, "done")
            await self._jobs.finish(job, result)

    async def _run_with_lease(self, job: Job) -> dict[str, Any]:
        async def progress(done: int, total: int | None) -> None:
            await self._jobs.progress(job, done, total)

        async def renew() -> None:
            await self._jobs.renew(job)

        work = self._handlers[job.kind](job, progress)
        return await run_with_lease(work, renew, self._renew_interval_s)

    def _count(self, job: Job, outcome: str) -> None:
        self._metrics.jobs.labels(job.kind, outcome).inc()


async def run_with_lease(
    work: Awaitable[T], renew: Callable[[], Awaitable[None]], interval_s: float
) -> T:
    """Return the result of work; raises LeaseLost, and cancels the work, if `renew` does."""

    async def renew_regularly() -> None:
        while True:
            await asyncio.sleep(interval_s)
            with suppress(ApiError):  # the lease is kept if the database returns in time
                await renew()

    working = asyncio.ensure_future(work)
    renewal = asyncio.create_task(renew_regularly())
    try:
        await asyncio.wait((working, renewal), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            renewal.result()  # raises: it ends in no other way
        return working.result()
    finally:
        for task in (working, renewal):
            task.cancel()
        await asyncio.gather(working, renewal, return_exceptions=True)
