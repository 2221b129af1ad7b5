"""Lists over HTTP: 100,000 numbers with routes, 10,000 flows and 10,000 agents of an account.

The anchor is a request for the account itself, which alternates with them.
"""

import random
import time
from collections.abc import Iterator

import msgspec

from api.accounts.store import Account, AccountStore, numbers
from api.common.clock import now_ms
from api.db.database import Database
from api.documents.document import Kind
from api.documents.tables import collections, documents, flow_versions
from tests.harness.api.databases import migrated_database, sqlite_url
from tests.harness.api.serving import NOWHERE
from tests.harness.servers.api_process import ACCOUNT
from tests.harness.servers.postgres import Postgres
from tests.harness.servers.records_api import RecordsApi
from tools.bench.figure import Figure, figure, percentile
from tools.bench.rest.bulk_insert import AS_DEPLOYED, Rows, insert
from tools.bench.rest.timed_queries import Query, time_queries
from tools.bench.setting import Setting
from wire.documents.versioned import FlowState

NUMBERS, FLOWS, AGENTS = 100_000, 10_000, 10_000
REPEATS, QUICK_REPEATS = 100, 20  # of each kind of list
BASE = "/srmain/voice"
ANCHOR = "account"  # a request that reads one row


async def lists(setting: Setting) -> list[Figure]:
    """Measure on SQLite."""
    return await _measure(setting, "lists", sqlite_url(setting.folder))


async def lists_postgres(setting: Setting) -> list[Figure]:
    """Measure on PostgreSQL; it runs only when named."""
    async with Postgres(*AS_DEPLOYED) as postgres:
        return await _measure(setting, "lists_postgres", postgres.url)


async def _measure(setting: Setting, name: str, url: str) -> list[Figure]:
    started_s = time.monotonic()
    async with migrated_database(url) as database:
        await AccountStore(database, now_ms).add(Account(ACCOUNT, ACCOUNT))
        await _fill(database)
    found = [figure(name, "fill", time.monotonic() - started_s, "s")]
    # The presence of agents comes from an engine; without one, as many are listed as `unknown`.
    api = RecordsApi(setting.folder / name, database_url=url, engine_url=NOWHERE)
    async with api:
        repeats = QUICK_REPEATS if setting.quick else REPEATS
        times = await time_queries(api, _queries(random.Random(5), repeats))
    anchor_ms = percentile(times.took_ms.pop(ANCHOR), 95)
    found.append(figure(name, "cpu", times.cpu_ms, "ms/request"))
    for kind, took_ms in times.took_ms.items():
        found.append(figure(name, f"{kind}_p95", percentile(took_ms, 95), "ms", anchor_ms))
    return [*found, figure(name, "all_p95", percentile(times.all_ms(), 95), "ms", anchor_ms)]


async def _fill(database: Database) -> None:
    own = [f"+4721{number:06}" for number in range(NUMBERS)]
    flow = msgspec.json.encode({"start": "a", "nodes": {"a": {"type": "hangup"}}})
    bodies: dict[Kind, dict[str, bytes]] = {
        "route": {
            each: msgspec.json.encode({"account": ACCOUNT, "action": "https://example.com/menu"})
            for each in own
        },
        "flow": {
            f"flow-{number:05}": msgspec.json.encode(FlowState(published=1, last=1))
            for number in range(FLOWS)
        },
        "agent": {
            f"agent-{number:05}": msgspec.json.encode({"endpoint": f"PJSIP/a{number}"})
            for number in range(AGENTS)
        },
    }
    async with database.writing() as connection:
        await insert(connection, numbers, [(each, ACCOUNT, 1) for each in own])
        for kind, found in bodies.items():
            await insert(connection, documents, _documents(kind, found))
            size = sum(map(len, found.values()))
            await insert(connection, collections, [(ACCOUNT, kind, 1, 0, len(found), size)])
        versions = [(ACCOUNT, each, 1, flow, 1, True) for each in bodies["flow"]]
        await insert(connection, flow_versions, versions)


def _documents(kind: Kind, bodies: dict[str, bytes]) -> Rows:
    return [(ACCOUNT, kind, name, 1, body, False, 1, len(body)) for name, body in bodies.items()]


def _queries(chance: random.Random, repeats: int) -> Iterator[Query]:
    """Yield the kinds of lists and the anchor in turn, so that none has the cache to itself."""
    for _ in range(repeats):
        for path, count in (("numbers", NUMBERS), ("flows", FLOWS), ("agents", AGENTS)):
            yield Query(f"{path}_page_1", f"{BASE}/{path}", {})
            any_page = {"offset": str(chance.randrange(count))}
            yield Query(f"{path}_any_page", f"{BASE}/{path}", any_page)
            yield Query(ANCHOR, "/srmain/account", {})
