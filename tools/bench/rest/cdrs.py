"""Call records over HTTP in a full database: pages by every filter, by cursor, and an export.

Each query runs twice: first from disk, then from caches.
"""

import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from api.cdrs.query.pages import encode_cursor
from api.common.timestamps import format_ms
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import NOON_MS
from tests.harness.api.databases import migrated_database, sqlite_url
from tests.harness.api.serving import NOWHERE
from tests.harness.servers.postgres import Postgres
from tests.harness.servers.records_api import RecordsApi
from tests.harness.until import until
from tools.bench.cpu import cpu_s
from tools.bench.figure import Figure, figure, percentile
from tools.bench.rest.bulk_insert import AS_DEPLOYED
from tools.bench.rest.cdr_fill import fill
from tools.bench.rest.cdr_rows import YEAR_MS
from tools.bench.setting import Setting

SQLITE, POSTGRES, QUICK = 2_000_000, 10_000_000, 100_000
EXPORTED = 1_000_000
REPEATS = 40  # of each kind of query
OTHER = " and another"
Query = dict[str, str]
Filter = Callable[[random.Random], Query]
FILTERS: dict[str, Filter] = {
    "clientId": lambda chance: {"clientId": f"client{chance.randrange(2_000)}"},
    "callerId": lambda chance: {"callerId": f"+472193{chance.randrange(20):04}"},
    "toNumber": lambda chance: {"toNumber": f"+4790{chance.randrange(5_000):06}"},
    "dialedNumber": lambda chance: {"dialedNumber": f"+4790{chance.randrange(5_000):06}"},
    "callPath": lambda chance: {"callPath": f"path{chance.randrange(10)}"},
    "obdType": lambda chance: {"obdType": f"obd{chance.randrange(5)}"},
    "answered": lambda _chance: {"answerStatus": "answered"},
    "missed": lambda _chance: {"answerStatus": "missed"},
    "recorded": lambda _chance: {"recordingPurpose": "call"},
    "voicemail": lambda _chance: {"recordingPurpose": "voicemail"},
    "disposition1": lambda chance: {"dispositionLevel1Id": f"one{chance.randrange(10)}"},
    "disposition2": lambda chance: {"dispositionLevel2Id": f"two{chance.randrange(50)}"},
    "disposition3": lambda chance: {"dispositionLevel3Id": f"three{chance.randrange(200)}"},
    "agentName": lambda chance: {"agentName": f"Agent {chance.randrange(200)}"},
    "agentNames": lambda chance: {
        "agentName": ",".join(f"Agent {chance.randrange(200)}" for _ in range(5))
    },
    "reqId": lambda chance: {"reqId": f"0-pbx1-call{chance.randrange(QUICK):08}"},
    "none": lambda _chance: {"clientId": "nobody", "callPath": "nowhere"},
    "missed and recorded": lambda _chance: {"answerStatus": "missed", "recordingPurpose": "call"},
}


async def cdrs(setting: Setting) -> list[Figure]:
    """Measure on SQLite."""
    rows = QUICK if setting.quick else SQLITE
    return await _measure(setting, "cdrs", sqlite_url(setting.folder), rows)


async def cdrs_postgres(setting: Setting) -> list[Figure]:
    """Measure on PostgreSQL; takes 15 minutes, so it runs only when named."""
    async with Postgres(*AS_DEPLOYED) as postgres:
        rows = QUICK if setting.quick else POSTGRES
        return await _measure(setting, "cdrs_postgres", postgres.url, rows)


async def _measure(setting: Setting, name: str, url: str, rows: int) -> list[Figure]:
    async with migrated_database(url) as database:
        started_s = time.monotonic()
        await fill(database, rows)
        filled_s = time.monotonic() - started_s
    found = [figure(name, "rows", rows, "rows")]
    found.append(figure(name, "fill", filled_s, "s"))
    async with _open_api(setting.folder / name, url) as (api, client):
        started_s = cpu_s(api.pid)
        first, requests = await _lists(client)
        found.append(
            figure(name, "cpu", (cpu_s(api.pid) - started_s) * 1_000 / requests, "ms/request")
        )
        again, _requests = await _lists(client)
        for kind, spent_ms in again.items():
            found.append(figure(name, f"{kind}_first_p95", percentile(first[kind], 95), "ms"))
            found.append(figure(name, f"{kind}_p95", percentile(spent_ms, 95), "ms"))
        found += await _export(api, name, min(EXPORTED, rows // 2))
    return found


async def _lists(client: "PageClient") -> tuple[dict[str, list[float]], int]:
    chance = random.Random(9)
    spent: dict[str, list[float]] = {}
    for kind, query in _queries(chance):
        spent.setdefault(kind, []).append(await client.page(query))
    filters = {kind: times for kind, times in spent.items() if kind.startswith("filter ")}
    slowest = max(filters.values(), key=lambda times: percentile(times, 95))
    lists = {
        "page_1": spent["page 1"],
        "cursor": spent["cursor"],
        "offset_10000": spent["offset"],
        "filters": [each for times in filters.values() for each in times],
        "two_filters": [
            each for kind, times in filters.items() if kind.endswith(OTHER) for each in times
        ],
        "slowest_filter": slowest,
    }
    return lists, sum(map(len, spent.values()))


def _queries(chance: random.Random) -> Iterator[tuple[str, Query]]:
    """Yield the kinds of queries in turn, so that none has the cache to itself."""
    for _ in range(REPEATS):
        yield "page 1", {}
        yield "offset", {"offset": "10000"}
        yield "cursor", {"cursor": _cursor(chance)}
        for name, drawn in FILTERS.items():
            query = drawn(chance)
            yield f"filter {name}", query
            yield f"filter {name} in time", {**query, **_times(chance)}
            yield f"filter {name} by cursor", {**query, "cursor": _cursor(chance)}
            other = chance.choice([each for each in FILTERS if each != name])
            yield f"filter {name}{OTHER}", {**FILTERS[other](chance), **query}


def _cursor(chance: random.Random) -> str:
    return encode_cursor((NOON_MS - chance.randrange(YEAR_MS), 1))


def _times(chance: random.Random) -> Query:
    start_ms = NOON_MS - chance.randrange(YEAR_MS)
    return {"startTime": format_ms(start_ms), "endTime": format_ms(start_ms + 30 * 86_400_000)}


class PageClient:
    """Requests pages over one persistent connection."""

    def __init__(self, api: RecordsApi, http: aiohttp.ClientSession) -> None:
        self._api = api
        self._http = http

    async def page(self, query: Query) -> float:
        """Request a page; returns the milliseconds."""
        started_s = time.perf_counter()
        words = {**REQUIRED, **query}
        async with self._http.get(f"{self._api.url}/srmain/cdr", params=words) as reply:
            body = await reply.read()
        assert reply.status == 200, body
        return (time.perf_counter() - started_s) * 1_000


@asynccontextmanager
async def _open_api(folder: Path, url: str) -> AsyncIterator[tuple[RecordsApi, PageClient]]:
    async with (
        RecordsApi(folder, database_url=url, engine_url=NOWHERE) as api,
        aiohttp.ClientSession(headers={"Authorization": api.api_key}) as http,
    ):
        asker = PageClient(api, http)
        await asker.page({})  # caches the API key
        yield api, asker


async def _export(api: RecordsApi, name: str, rows: int) -> list[Figure]:
    before_kib, started_s = _resident_kib(api.pid), time.monotonic()
    query = {**REQUIRED, "limit": rows}
    _, export = await api.request("POST", "/srmain/cdr/export", {}, **query)
    path = f"/srmain/cdr/exports/{export['exportId']}"

    async def is_done() -> bool:
        export.update((await api.request("GET", path))[1])
        return bool(export["state"] == "done")

    await until(is_done, timeout_s=600, every_s=0.25, what="the export")
    took_s, peak_kib = time.monotonic() - started_s, _peak_kib(api.pid)
    assert export["rows"] == rows, export
    return [
        figure(name, "export_rows", rows, "rows"),
        figure(name, "export", took_s, "s"),
        figure(name, "export_memory", (peak_kib - before_kib) / 1024, "MiB"),
    ]


def _resident_kib(pid: int) -> int:
    return _status(pid, "VmRSS:")


def _peak_kib(pid: int) -> int:
    return _status(pid, "VmHWM:")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))
