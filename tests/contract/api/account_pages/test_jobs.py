"""`/srmain/jobs`: an account lists and cancels its own background jobs."""

import pytest

from api.jobs.store import LeaseLost
from tests.harness.api.rest import Rest

JOBS = "/srmain/jobs"


async def added(rest: Rest, kind: str = "cdr-export", account: str = "acme") -> str:
    """Add a job that no worker runs; return its id."""
    async with rest.services.database.writing() as connection:
        return await rest.services.jobs.add(connection, kind, account, {})


async def test_jobs_of_all_kinds_are_listed(kept: Rest) -> None:
    """By page, with their total; another account's are not among them."""
    ids = {await added(kept), await added(kept, "contacts-import")}
    theirs = await added(kept, account="other")
    page = (await kept.request("GET", JOBS)).json()
    assert (page["total"], {each["id"] for each in page["data"]}) == (2, ids)
    assert {each["state"] for each in page["data"]} == {"waiting"}
    short = (await kept.request("GET", JOBS, params={"limit": 1, "offset": 1})).json()
    assert (len(short["data"]), short["total"]) == (1, 2)
    assert (await kept.rejected("GET", f"{JOBS}/{theirs}"))[:2] == (404, "not_found")
    assert (await kept.rejected("POST", f"{JOBS}/{theirs}/cancel"))[:2] == (404, "not_found")


async def test_a_waiting_job_is_cancelled(kept: Rest) -> None:
    """It has failed, no worker runs it, and it cannot be cancelled twice."""
    job = await added(kept)
    shown = await kept.post(f"{JOBS}/{job}/cancel")
    assert (shown["state"], shown["error"]) == ("failed", "cancelled")
    assert (await kept.request("GET", f"{JOBS}/{job}")).json() == shown
    assert await kept.services.jobs.claim("worker", ["cdr-export"]) is None
    assert (await kept.rejected("POST", f"{JOBS}/{job}/cancel"))[:2] == (409, "conflict")


async def test_a_running_job_is_cancelled(kept: Rest) -> None:
    """Its worker loses the lease at its next sign of life, and stores nothing more."""
    await added(kept)
    job = await kept.services.jobs.claim("worker", ["cdr-export"])
    assert job is not None
    await kept.post(f"{JOBS}/{job.id}/cancel")
    with pytest.raises(LeaseLost):
        await kept.services.jobs.renew(job)
    with pytest.raises(LeaseLost):
        await kept.services.jobs.finish(job, {})


async def test_an_erasure_is_not_cancelled(rest: Rest) -> None:
    """A list would be left half deleted."""
    job = await added(rest, "contacts-erase")
    assert (await rest.rejected("POST", f"{JOBS}/{job}/cancel"))[:2] == (409, "conflict")


async def test_unknown_jobs(rest: Rest) -> None:
    """An id that no job has, or could have, is 404."""
    for job in ("nope", "a%00b"):
        assert (await rest.rejected("GET", f"{JOBS}/{job}"))[:2] == (404, "not_found")
