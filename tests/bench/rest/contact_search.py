"""Contact search over HTTP among millions: every filter, and pages."""

import random
import time
from collections.abc import Iterator

import aiohttp

from api.accounts.store import Account, AccountStore
from api.common.clock import now_ms
from tests.bench.cpu import cpu_s
from tests.bench.figure import Figure, figure, percentile
from tests.bench.rest.bulk_insert import AS_DEPLOYED
from tests.bench.rest.contact_fill import common, fill, names
from tests.bench.setting import Setting
from tests.contract.api.databases import migrated_database, sqlite_url
from tests.contract.api.serving import NOWHERE
from tests.harness.servers.postgres import Postgres
from tests.harness.servers.records_api import RecordsApi

ROWS, QUICK = 5_000_000, 200_000
REPEATS = 40  # of each kind of query
BASE = "/srmain/contacts_list"
Query = tuple[str, str, dict[str, str]]


async def contact_search(setting: Setting) -> list[Figure]:
    """Measure on SQLite."""
    return await _measure(setting, "contact_search", sqlite_url(setting.folder))


async def contact_search_postgres(setting: Setting) -> list[Figure]:
    """Measure on PostgreSQL; slow, so it runs only when named."""
    async with Postgres(*AS_DEPLOYED) as postgres:
        return await _measure(setting, "contact_search_postgres", postgres.url)


async def _measure(setting: Setting, name: str, url: str) -> list[Figure]:
    rows, started_s = QUICK if setting.quick else ROWS, time.monotonic()
    async with migrated_database(url) as database:
        await AccountStore(database, now_ms).add(Account("acme", "acme"))
        list_ids = await fill(database, rows)
    found = [
        figure(name, "rows", rows, "rows"),
        figure(name, "fill", time.monotonic() - started_s, "s"),
    ]
    api = RecordsApi(setting.folder / name, database_url=url, engine_url=NOWHERE)
    async with api:
        spent_ms, cpu_ms = await _run_queries(api, list_ids)
    found.append(figure(name, "cpu", cpu_ms, "ms/request"))
    for kind, times in spent_ms.items():
        found.append(figure(name, f"{kind}_p95", percentile(times, 95), "ms"))
    all_ms = [each for times in spent_ms.values() for each in times]
    return [*found, figure(name, "all_p95", percentile(all_ms, 95), "ms")]


async def _run_queries(
    api: RecordsApi, list_ids: list[int]
) -> tuple[dict[str, list[float]], float]:
    spent: dict[str, list[float]] = {}
    requests = 0
    async with aiohttp.ClientSession(headers={"Authorization": api.api_key}) as http:
        await _query_ms(http, api, "all-contacts", {})  # caches the API key
        started_s = cpu_s(api.pid)
        for kind, path, params in _queries(random.Random(9), list_ids):
            spent.setdefault(kind, []).append(await _query_ms(http, api, path, params))
            requests += 1
    return spent, (cpu_s(api.pid) - started_s) * 1_000 / requests


async def _query_ms(
    http: aiohttp.ClientSession, api: RecordsApi, path: str, params: dict[str, str]
) -> float:
    started_s = time.perf_counter()
    async with http.get(f"{api.url}{BASE}/{path}", params=params) as reply:
        body = await reply.read()
    assert reply.status == 200, body
    return (time.perf_counter() - started_s) * 1_000


def _queries(chance: random.Random, list_ids: list[int]) -> Iterator[Query]:
    """Yield the kinds of queries in turn, so that none has the cache to itself."""
    drawn = random.Random(3)
    firsts, lasts = names(3_000, drawn), names(6_000, drawn)
    for _ in range(REPEATS):
        first = _prefix(chance, common(chance, firsts))
        last = _prefix(chance, common(chance, lasts))
        number = f"+47{chance.randrange(10**8):08}"[: chance.randrange(3, 12)]
        list_id = chance.choice(list_ids)
        everywhere = {
            "page_1": {},
            "offset_10000": {"offset": "10000"},
            "first_name": {"fName": first},
            "last_name": {"lName": last},
            "both_names": {"fName": first, "lName": last},
            "number": {"phNumber": number},
            "email": {"email": first + "."},
            "no_match": {"fName": "nobody"},
            "number_and_name": {"phNumber": number, "fName": first},
        }
        for kind, params in everywhere.items():
            yield kind, "all-contacts", params
        yield "list_page_1", f"get-contact/{list_id}", {"limit": "100"}
        yield "list_offset_10000", f"get-contact/{list_ids[0]}", {"offset": "10000"}
        yield "list_tag", f"get-contact/{list_id}", {"tags": "vip"}
        in_list = {
            "list_first_name": {"fName": first},
            "list_both_names": {"fName": first, "lName": last},
            "list_number": {"number": number},
            "list_tag_and_name": {"tags": "vip", "lName": last},
        }
        for kind, params in in_list.items():
            yield kind, f"viewContacts/{list_id}", params


def _prefix(chance: random.Random, name: str) -> str:
    return name[: chance.randrange(1, len(name) + 1)]
