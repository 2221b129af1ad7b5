"""Background jobs of several accounts: limits per account, and fair turns."""

import asyncio
from pathlib import Path

import pytest

from api.accounts.store import Account, AccountStore
from api.common.errors import TooManyRequests
from api.db.database import Database
from api.jobs.store import Job, JobStore
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import run_rest, settings_for
from tests.harness.rpc.scene import RpcScene


class Queue:
    """Jobs of two accounts."""

    def __init__(self, database: Database, most: int = 100) -> None:
        self.clock = ManualClock()
        self.jobs = JobStore(database, self.clock, most)
        self._database = database

    async def opened(self) -> None:
        """Add the accounts."""
        for account in ("acme", "other"):
            await AccountStore(self._database, self.clock).add(Account(account, account))

    async def add(
        self, account: str, count: int = 1, kind: str = "sum", max_of_kind: int = 100
    ) -> None:
        """Add jobs."""
        for _ in range(count):
            self.clock.now += 1
            async with self._database.writing() as connection:
                await self.jobs.add(connection, kind, account, {}, max_of_kind)

    async def take(self, kind: str = "sum") -> Job:
        """Claim and return the next job."""
        job = await self.jobs.claim("worker", [kind])
        assert job is not None
        return job

    async def do(self) -> str:
        """Run the next job; return its account."""
        job = await self.take()
        await self.jobs.finish(job, {})
        return job.account_id


async def test_accounts_take_turns(database: Database) -> None:
    """Two late jobs wait only for two of another account's five jobs."""
    queue = Queue(database)
    await queue.opened()
    await queue.add("acme", 5)
    running = await queue.take()
    await queue.add("other", 2)
    order = [await queue.do() for _ in range(6)]
    assert (running.account_id, order) == (
        "acme",
        ["other", "acme", "other", "acme", "acme", "acme"],
    )


async def test_an_account_with_many_jobs_is_not_starved(database: Database) -> None:
    """It gets every other turn while another account keeps adding jobs."""
    queue = Queue(database)
    await queue.opened()
    await queue.add("acme", 4)
    order = []
    for _ in range(6):
        await queue.add("other")
        order += [await queue.do(), await queue.do()]
        if order.count("acme") == 4:
            break
    assert order.count("other") <= 4
    assert all("acme" in order[place : place + 2] for place in range(0, len(order), 2))


async def test_an_account_has_a_limit_of_jobs(database: Database) -> None:
    """The limit counts all kinds of jobs of one account; an ended job frees a place."""
    queue = Queue(database, most=3)
    await queue.opened()
    await queue.add("acme", 2)
    await queue.add("acme", kind="product")
    await queue.take()
    with pytest.raises(TooManyRequests) as refused:
        await queue.add("acme")
    assert (refused.value.code, refused.value.retry_after_s) == ("too_many_jobs", 30)
    await queue.add("other", 3)
    job = await queue.take("product")
    await queue.jobs.finish(job, {})
    await queue.add("acme")


async def test_concurrent_jobs_are_counted(database: Database) -> None:
    """Each transaction waits for the one before, so they do not exceed the limit."""
    queue = Queue(database, most=3)
    await queue.opened()
    came = await asyncio.gather(*(queue.add("acme") for _ in range(8)), return_exceptions=True)
    refused = [each for each in came if each is not None]
    assert all(isinstance(each, TooManyRequests) for each in refused)
    assert len(refused) == 5


async def test_a_kind_may_have_a_limit_of_its_own(database: Database) -> None:
    """Jobs of other kinds do not count, and concurrent jobs do not exceed it."""
    queue = Queue(database)
    await queue.opened()
    await queue.add("acme", 2, "product")
    adding = (queue.add("acme", max_of_kind=2) for _ in range(5))
    came = await asyncio.gather(*adding, return_exceptions=True)
    refused = [each for each in came if each is not None]
    assert [getattr(each, "code", each) for each in refused] == ["too_many"] * 3


async def test_too_many_jobs_get_429(tmp_path: Path, scene: RpcScene) -> None:
    """Every kind of job gets 429, and nothing is changed."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, max_jobs=1)
    async with run_rest(settings, scene) as rest:
        list_id = await a_list(rest.services)
        await contacts_in(rest.services, list_id, *some(1))
        body = {"contactListId": await a_list(rest.services)}
        await rest.post(f"{BASE}/download-requests", **body)
        for method, path, requested in (
            ("POST", f"{BASE}/download-requests", body),
            ("DELETE", f"{BASE}/delete-file/{list_id}", None),
        ):
            assert (await rest.rejected(method, path, requested))[:2] == (429, "too_many_jobs")
        assert (await rest.request("GET", f"{BASE}/contactlists/{list_id}")).json()["contacts"] == 1
        assert (await rest.request("GET", f"{BASE}/download-requests")).json()["total"] == 1
