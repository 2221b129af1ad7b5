"""Contact search over HTTP among millions: every filter, and pages."""

import random
import time
from collections.abc import Iterator

from api.accounts.store import Account, AccountStore
from api.common.clock import now_ms
from tests.harness.api.databases import migrated_database, sqlite_url
from tests.harness.api.serving import NOWHERE
from tests.harness.servers.postgres import Postgres
from tests.harness.servers.records_api import RecordsApi
from tools.bench.figure import Figure, figure, percentile
from tools.bench.rest.bulk_insert import AS_DEPLOYED
from tools.bench.rest.contact_fill import common, fill, names
from tools.bench.rest.timed_queries import Query, time_queries
from tools.bench.setting import Setting

ROWS, QUICK = 5_000_000, 200_000
REPEATS = 40  # of each kind of query
BASE = "/srmain/contacts_list"


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
        times = await time_queries(api, _queries(random.Random(9), list_ids))
    found.append(figure(name, "cpu", times.cpu_ms, "ms/request"))
    for kind, took_ms in times.took_ms.items():
        found.append(figure(name, f"{kind}_p95", percentile(took_ms, 95), "ms"))
    return [*found, figure(name, "all_p95", percentile(times.all_ms(), 95), "ms")]


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
            yield Query(kind, f"{BASE}/all-contacts", params)
        yield Query("list_page_1", f"{BASE}/get-contact/{list_id}", {"limit": "100"})
        yield Query("list_offset_10000", f"{BASE}/get-contact/{list_ids[0]}", {"offset": "10000"})
        yield Query("list_tag", f"{BASE}/get-contact/{list_id}", {"tags": "vip"})
        in_list = {
            "list_first_name": {"fName": first},
            "list_both_names": {"fName": first, "lName": last},
            "list_number": {"number": number},
            "list_tag_and_name": {"tags": "vip", "lName": last},
        }
        for kind, params in in_list.items():
            yield Query(kind, f"{BASE}/viewContacts/{list_id}", params)


def _prefix(chance: random.Random, name: str) -> str:
    return name[: chance.randrange(1, len(name) + 1)]
