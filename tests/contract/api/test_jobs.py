"""Background jobs: executed once by many workers, retried after a crash, with results."""

import asyncio
from typing import Any

import pytest

from api.accounts.store import Account, AccountStore
from api.common.errors import ServiceUnavailable
from api.db.database import Database
from api.jobs.housekeeping import Monitor
from api.jobs.store import LEASE_MS, MAX_ATTEMPTS, RETRY_DELAY_MS, Job, JobStore, LeaseLost
from api.jobs.worker import PermanentFailure, Progress, Worker
from api.metrics import Metrics
from tests.harness.api.databases import opened
from tests.harness.api.manual_clock import ManualClock
from tests.harness.until import until


async def added(
    database: Database, clock: ManualClock, count: int = 1
) -> tuple[JobStore, list[str]]:
    """Add an account with jobs."""
    await AccountStore(database, clock).add(Account("acme", "Acme"))
    jobs = JobStore(database, clock)
    async with database.writing() as connection:
        ids = [await jobs.add(connection, "sum", "acme", {"n": n}) for n in range(count)]
    return jobs, ids


async def double(job: Job, progress: Progress) -> dict[str, Any]:
    """Double the number of the payload."""
    await progress(1, 2)
    return {"double": job.payload["n"] * 2}


async def test_many_workers_run_each_job_once(database: Database) -> None:
    """Each job is run only by the worker that claims it."""
    jobs, ids = await added(database, ManualClock(), 12)
    done: list[int] = []

    async def recorded(job: Job, _progress: Progress) -> dict[str, Any]:
        done.append(job.payload["n"])
        await asyncio.sleep(0)
        return {}

    async def all_of_it() -> None:
        worker = Worker(jobs, {"sum": recorded}, Metrics())
        while await worker.once():
            pass

    await asyncio.gather(*(all_of_it() for _ in range(3)))
    assert sorted(done) == list(range(12))
    assert {(await _got(jobs, each)).state for each in ids} == {"done"}


async def test_a_job_stores_its_result_and_progress(database: Database) -> None:
    """Its account can read both; another account cannot."""
    jobs, (job_id,) = await added(database, ManualClock())
    assert await Worker(jobs, {"sum": double}, Metrics()).once()
    job = await _got(jobs, job_id)
    assert (job.state, job.result, job.done, job.total) == ("done", {"double": 0}, 1, 2)
    assert await jobs.get("other", "sum", job_id) is None


async def test_a_dead_owners_job_is_taken_over(database: Database) -> None:
    """When the lease expires, another worker claims it; the first one's result is ignored."""
    clock = ManualClock()
    jobs, (job_id,) = await added(database, clock)
    dead = await jobs.claim("dead", ["sum"])
    assert dead is not None
    assert not await Worker(jobs, {"sum": double}, Metrics()).once()
    clock.now += LEASE_MS
    assert await Worker(jobs, {"sum": double}, Metrics()).once()
    assert (await _got(jobs, job_id)).attempts == 2
    with pytest.raises(LeaseLost):
        await jobs.finish(dead, {"double": -1})
    assert (await _got(jobs, job_id)).result == {"double": 0}


async def test_a_failing_job_is_retried_and_then_failed(database: Database) -> None:
    """The delays grow, and after the last attempt the job has failed."""
    clock = ManualClock()
    jobs, (job_id,) = await added(database, clock)

    async def failing(_job: Job, _progress: Progress) -> dict[str, Any]:
        raise ZeroDivisionError

    worker = Worker(jobs, {"sum": failing}, Metrics())
    for _ in range(MAX_ATTEMPTS):
        assert await worker.once()
        assert not await worker.once()
        clock.now += 3_600_000
    job = await _got(jobs, job_id)
    assert (job.state, job.error, job.attempts) == ("failed", "internal", MAX_ATTEMPTS)
    assert not await worker.once()


async def test_the_pauses_between_attempts(database: Database) -> None:
    """Each is twice as long as the one before."""
    clock = ManualClock()
    jobs, _ = await added(database, clock)
    for attempt in range(MAX_ATTEMPTS - 1):
        await jobs.fail(await _claimed(jobs), "it is away")
        clock.now += RETRY_DELAY_MS * 2**attempt - 1
        assert await jobs.claim("early", ["sum"]) is None
        clock.now += 1
    assert (await _claimed(jobs)).attempts == MAX_ATTEMPTS


async def test_a_job_that_kills_processes(database: Database) -> None:
    """It is not claimed for ever, and the next job has its turn."""
    clock = ManualClock()
    jobs, (doomed, good) = await added(database, clock, 2)
    for _ in range(MAX_ATTEMPTS):
        assert (await _claimed(jobs)).id == doomed
        clock.now += LEASE_MS
    worker = Worker(jobs, {"sum": double}, Metrics())
    assert await worker.once()
    job = await _got(jobs, doomed)
    assert (job.state, job.error) == ("failed", "each attempt ended with its process")
    assert await worker.once()
    assert (await _got(jobs, good)).state == "done"


async def test_a_process_that_is_stopped_leaves_its_job_to_others(database: Database) -> None:
    """At once, and this was no attempt: a job outlives any number of updates."""
    jobs, (job_id,) = await added(database, ManualClock())
    started = asyncio.Event()

    async def endless(_job: Job, _progress: Progress) -> dict[str, Any]:
        started.set()
        await asyncio.Event().wait()
        return {}

    working = asyncio.create_task(Worker(jobs, {"sum": endless}, Metrics()).run())
    await started.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    job = await _claimed(jobs)
    assert (job.id, job.attempts) == (job_id, 1)


@pytest.mark.parametrize(
    ("error", "stored"),
    [
        ("there is no such file", "there is no such file"),
        ("550 Bo\udceete inconnue\0", "550 Bo te inconnue"),  # bytes of another server
    ],
)
async def test_a_permanent_failure_is_not_retried(
    database: Database, error: str, stored: str
) -> None:
    """Its error is stored, without what no database stores."""
    jobs, (job_id,) = await added(database, ManualClock())

    async def hopeless(_job: Job, _progress: Progress) -> dict[str, Any]:
        raise PermanentFailure(error)

    await Worker(jobs, {"sum": hopeless}, Metrics()).once()
    job = await _got(jobs, job_id)
    assert (job.state, job.error) == ("failed", stored)


async def test_a_worker_survives_unexpected_errors(database: Database) -> None:
    """An error between jobs does not stop the worker."""
    _, (job_id,) = await added(database, ManualClock())
    jobs = MoodyJobs(database, ManualClock())
    working = asyncio.create_task(
        Worker(jobs, {"sum": double}, Metrics()).run(poll_interval_s=0.01)
    )

    async def is_done() -> bool:
        return (await _got(jobs, job_id)).state == "done"

    await until(is_done, what="the job")
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)  # it uses the database


class MoodyJobs(JobStore):
    """A store whose first claim raises an unexpected error."""

    is_well = False

    async def claim(self, owner: str, kinds: list[str]) -> Job | None:
        """Claim a job; raises on the first call."""
        if not self.is_well:
            self.is_well = True
            raise ZeroDivisionError
        return await super().claim(owner, kinds)


async def _claimed(jobs: JobStore) -> Job:
    job = await jobs.claim("another", ["sum"])
    assert job is not None
    return job


async def _got(jobs: JobStore, job_id: str) -> Job:
    job = await jobs.get("acme", "sum", job_id)
    assert job is not None
    return job


async def test_a_lease_survives_a_short_database_outage(database: Database) -> None:
    """A running job continues, because its lease is still valid after the outage."""
    clock = ManualClock()
    jobs, (job_id,) = await added(database, clock)
    shy = ShyJobs(database, clock)

    async def slow(_job: Job, _progress: Progress) -> dict[str, Any]:
        await until(lambda: shy.held > 1, what="a lease that is held again")
        return {}

    assert await Worker(shy, {"sum": slow}, Metrics(), renew_interval_s=0.01).once()
    assert (await _got(jobs, job_id)).state == "done"


class ShyJobs(JobStore):
    """A store that is unavailable when a lease is first renewed."""

    held = 0

    async def renew(self, job: Job) -> None:
        """Renew a lease; raises on the first call."""
        self.held += 1
        if self.held == 1:
            raise ServiceUnavailable("the database can't be used now")
        await super().renew(job)


async def test_the_age_of_the_oldest_job_is_measured(database: Database) -> None:
    """Of each kind: 0 without an unfinished job, also after the last one has ended."""
    clock, metrics = ManualClock(), Metrics()
    jobs, ids = await added(database, clock, 2)
    monitor = Monitor(database, metrics, frozenset({"sum", "import"}), clock)
    clock.now += 90_000
    await monitor.once()
    assert (_age_s(metrics, "sum"), _age_s(metrics, "import")) == (90, 0)
    for each in ids:
        assert await jobs.cancel("acme", each)
    await monitor.once()
    assert _age_s(metrics, "sum") == 0
    assert metrics.registry.get_sample_value("switchroom_api_database_up") == 1


async def test_a_database_that_does_not_answer_is_measured() -> None:
    """The monitor goes on, and shows it."""
    metrics = Metrics()
    async with opened("postgresql+asyncpg://nobody@127.0.0.1:1/none") as away:
        with pytest.raises(ServiceUnavailable):
            await Monitor(away, metrics, frozenset(), ManualClock()).once()
    assert metrics.registry.get_sample_value("switchroom_api_database_up") == 0


def _age_s(metrics: Metrics, kind: str) -> float | None:
    return metrics.registry.get_sample_value("switchroom_api_job_age_seconds", {"kind": kind})
