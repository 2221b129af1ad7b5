"""Real API processes, killed while they write call records and exports."""

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from api.cdrs.query.filters import Filters
from api.cdrs.store import CdrStore
from api.db.database import Database
from api.jobs.store import jobs
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import events_of, record, write_calls
from tests.harness.api.databases import migrated_database
from tests.harness.api.leases import end_leases
from tests.harness.rpc.scene import TOKEN, RpcScene
from tests.harness.servers.records_api import RecordsApi
from tests.harness.shards import at
from tests.harness.until import until

CALLS = 4_000


@pytest.fixture
async def apis(
    scene: RpcScene, database_url: str, tmp_path: Path
) -> AsyncIterator[list[RecordsApi]]:
    """Provide two processes on one database and one engine, not started yet."""
    found = [
        RecordsApi(
            tmp_path / name, database_url=database_url, engine_url=scene.url, rpc_token=TOKEN
        )
        for name in ("api1", "api2")
    ]
    found[1].api_key = found[0].api_key
    yield found
    for api in found:
        await api.stop()


async def count(database: Database) -> int:
    """Return the number of records."""
    return (await CdrStore(database, 100_000).total(Filters("acme"))).count


async def test_a_killed_consumer_loses_and_doubles_nothing(
    scene: RpcScene, apis: list[RecordsApi], database_url: str
) -> None:
    """Two processes share a consumer group, and one is killed and restarted."""
    bodies = [msgspec.json.encode(event) for n in range(CALLS) for event in events_of(record(n))]
    async with migrated_database(database_url) as database:
        for api in apis:
            await api.start()
        scene.store.stream.append(at(0), bodies[: len(bodies) // 2])
        scene.store.stream.append(at(1), bodies[len(bodies) // 2 :])

        async def has_begun() -> bool:
            return await count(database) > 0

        await until(has_begun, timeout_s=30, every_s=0.001, what="the first records")
        await apis[0].kill()
        assert await count(database) < CALLS
        await apis[0].start()

        async def is_done() -> bool:
            _, found = await scene.request("GET", "/events/groups")
            return [(each["lag"], each["pending"]) for each in found["groups"]] == [(0, 0)]

        await until(is_done, timeout_s=60, what="every event to be acknowledged")
        rows = (await CdrStore(database).page(Filters("acme"), 2 * CALLS)).rows
        assert sorted(row.req_id for row in rows) == [record(n).call_id for n in range(CALLS)]
        assert len(await CdrStore(database).timeline("acme", record(7).call_id)) == 3


async def test_a_killed_export_is_completed(apis: list[RecordsApi], database_url: str) -> None:
    """Another process continues after the last part; the file has each record once."""
    rows = 12_000
    async with migrated_database(database_url) as database:
        for first in range(0, rows, 2_000):
            await write_calls(
                database, *(record(n, after_ms=n) for n in range(first, first + 2_000))
            )
    api, successor = apis
    await api.start()
    query = {**REQUIRED, "limit": rows + 1}
    status, export = await api.request(
        "POST", "/srmain/cdr/export", {"includeTimeline": True}, **query
    )
    assert (status, export["state"]) == (200, "waiting")
    path = f"/srmain/cdr/exports/{export['exportId']}"

    async def has_begun() -> bool:
        export.update((await api.request("GET", path))[1])
        return bool(export["rows"])

    await until(has_begun, timeout_s=30, every_s=0.005, what="the first part")
    await api.kill()
    assert (export["state"], export["rows"] < rows) == ("running", True)
    await end_leases(database_url, jobs)
    await successor.start()

    async def is_done() -> bool:
        export.update((await successor.request("GET", path))[1])
        return bool(export["state"] == "done")

    await until(is_done, timeout_s=60, what="the export")
    assert (export["rows"], export["total"]) == (rows, rows)
    lines = list(csv.DictReader(io.StringIO(await successor.text(export["downloadPath"]))))
    assert [line["reqId"] for line in lines] == [record(n).call_id for n in reversed(range(rows))]
    assert [each["event"] for each in msgspec.json.decode(lines[0]["timeline"])] == [
        "initiated", "answered", "completed",
    ]  # fmt: skip
