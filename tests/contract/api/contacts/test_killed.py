"""Real API processes that are killed while they import contacts."""

import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api.contacts.tables import contacts, rejects
from api.jobs.store import jobs
from tests.contract.api.successors import Successors, run_successors
from tests.harness.api.contacts.uploads import BASE, PHONES, sent_to
from tests.harness.api.databases import migrated_database
from tests.harness.api.leases import end_leases
from tests.harness.until import until

ROWS = 60_000
BAD = 1_000  # one row in a thousand is invalid


@pytest.fixture
async def apis(database_url: str, tmp_path: Path) -> AsyncIterator[Successors]:
    """Prepare processes with one database; a test starts them."""
    async with run_successors(tmp_path, database_url) as found:
        yield found


def file() -> io.BytesIO:
    """Return a file of numbers, each twice; some are invalid."""
    numbers = (f"+4790{number // 2:06}" if number % BAD else "nobody" for number in range(ROWS))
    return io.BytesIO("\n".join(["Phone", *numbers]).encode())


async def test_a_killed_import_is_completed(apis: Successors, database_url: str) -> None:
    """Another process resumes after the last batch; each contact is imported once."""
    async with migrated_database(database_url) as database:
        api = await apis.start()
        list_id = await sent_to(api, file(), PHONES, name="Spring")
        path, found = f"{BASE}/contactlists/{list_id}", dict[str, Any]()
        await api.request("POST", f"{BASE}/process-file/{list_id}")

        async def has_started() -> bool:
            found.update((await api.request("GET", path))[1])
            return bool(found["processing"]["rows"])

        await until(has_started, timeout_s=30, every_s=0.005, what="the first batch")
        await api.kill()
        assert (found["status"], found["processing"]["rows"] < ROWS) == ("PROCESSING", True)
        await end_leases(database_url, jobs)
        successor = await apis.start()

        async def is_done() -> bool:
            found.update((await successor.request("GET", path))[1])
            return bool(found["status"] != "PROCESSING")

        await until(is_done, timeout_s=60, what="the import")
        result, bad = found["processing"], ROWS // BAD
        assert (found["status"], result["rows"], result["rejected"]) == ("COMPLETED", ROWS, bad)
        assert result["added"] == found["contacts"] == ROWS // 2
        assert result["skipped"] == ROWS - bad - result["added"]
        async with database.reading() as connection:
            for table, rows in ((contacts, ROWS // 2), (rejects, bad)):
                count = await connection.execute(sa.select(sa.func.count()).select_from(table))
                assert count.scalar_one() == rows
