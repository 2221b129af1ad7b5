"""The worker's lease on a job, in virtual time."""

import asyncio
from typing import Any

import pytest

from api.jobs.store import LEASE_MS, Job, JobStore, LeaseLost
from api.jobs.worker import Progress, Worker
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
        self._clock = clock
        self._until_ms = 0

    async def claim(self, _owner: str, _kinds: list[str]) -> Job | None:
        """Give the job with a lease."""
        self._until_ms = self._clock.now_ms() + LEASE_MS
        return JOB

    async def renew(self, job: Job) -> None:
        """Renew the lease, unless it has expired and another worker has the job."""
        if self._clock.now_ms() >= self._until_ms:
            raise LeaseLost(job.id)
        self._until_ms = self._clock.now_ms() + LEASE_MS

    async def finish(self, job: Job, result: dict[str, Any]) -> None:
        """Store the result, if the lease holds."""
        await self.renew(job)
        self.result = result


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
