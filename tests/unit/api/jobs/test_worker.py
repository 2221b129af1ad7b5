"""The worker's lease on a job, in virtual time, and what becomes of the job."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from api.jobs.store import LEASE_MS, MAX_ATTEMPTS, Job, JobStore, LeaseLost
from api.jobs.worker import PermanentFailure, Progress, RetryableFailure, Worker
from api.metrics import Metrics
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop, leave_loop

JOB = Job(
    id="17",
    account_id="acme",
    kind="count",
    state="running",
    payload={},
    result=None,
    error=None,
    done=0,
    total=None,
    attempts=1,
    turn=0,
    due_ms=0,
    owner="me",
    created_ms=0,
    ended_ms=None,
)


class OneJob(JobStore):
    """A store of one job in memory: the lease on it ends as in a database."""

    def __init__(self, clock: SimClock) -> None:
        self.result: dict[str, Any] | None = None
        self.job = JOB
        self.failure: tuple[str, bool] | None = None  # and whether it is for good
        self._clock = clock
        self._until_ms = 0

    async def claim(self, _owner: str, _kinds: list[str]) -> Job | None:
        """Give the job with a lease."""
        self._until_ms = self._clock.now_ms() + LEASE_MS
        return self.job

    async def renew(self, job: Job) -> None:
        """Renew the lease, unless it has expired and another worker has the job."""
        if self._clock.now_ms() >= self._until_ms:
            raise LeaseLost(job.id)
        self._until_ms = self._clock.now_ms() + LEASE_MS

    async def finish(self, job: Job, result: dict[str, Any]) -> None:
        """Store the result, if the lease holds."""
        await self.renew(job)
        self.result = result

    async def fail(self, _job: Job, error: str, *, for_good: bool = False) -> None:
        """Store the failure."""
        self.failure = error, for_good


@pytest.mark.parametrize("leases", [0.5, 1, 10])
def test_a_lease_is_renewed_while_a_job_runs(leases: float) -> None:
    """However long it takes, and without progress, no other worker takes the job over."""
    clock = SimClock()
    loop, jobs = SimLoop(clock), OneJob(clock)

    async def count(_job: Job, _progress: Progress) -> dict[str, Any]:
        await asyncio.sleep(leases * LEASE_MS / 1_000)  # virtual time, by SimLoop
        return {"count": 1}

    loop.enter()
    try:
        working = loop.create_task(Worker(jobs, {"count": count}, Metrics()).once())
        clock.run(clock.at_ms + (leases + 1) * LEASE_MS)
    finally:
        leave_loop()
    assert working.done()
    assert jobs.result == {"count": 1}


INTERRUPTED = "each attempt ended with its process"


@pytest.mark.parametrize(
    ("error", "attempts", "outcome", "failure"),
    [
        (None, MAX_ATTEMPTS, "done", None),
        (None, MAX_ATTEMPTS + 1, "failed", (INTERRUPTED, True)),
        (PermanentFailure("no such file"), 1, "failed", ("no such file", True)),
        (RetryableFailure("it is away"), 1, "failed", ("it is away", False)),
        (ZeroDivisionError(), 1, "failed", ("internal", False)),
        (LeaseLost("17"), 1, "lost", None),
    ],
)
async def test_the_outcome_of_a_job(
    error: Exception | None, attempts: int, outcome: str, failure: tuple[str, bool] | None
) -> None:
    """It is counted, and stored unless another worker has the job."""
    jobs, metrics = OneJob(SimClock()), Metrics()
    jobs.job = replace(JOB, attempts=attempts)

    async def run(_job: Job, _progress: Progress) -> dict[str, Any]:
        if error is not None:
            raise error
        return {"count": 1}

    assert await Worker(jobs, {"count": run}, metrics).once()
    labels = {"kind": "count", "outcome": outcome}
    assert metrics.registry.get_sample_value("switchroom_api_jobs_total", labels) == 1
    assert jobs.failure == failure
    assert jobs.result == ({"count": 1} if outcome == "done" else None)
