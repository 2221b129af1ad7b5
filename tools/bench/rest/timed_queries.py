"""Times GET requests of several kinds, and the CPU of the REST layer that serves them."""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import aiohttp

from tests.harness.servers.records_api import RecordsApi
from tools.bench.cpu import cpu_s


class Query(NamedTuple):
    """A request of a kind, by which its times are grouped."""

    kind: str
    path: str
    params: Mapping[str, str]


class QueryTimes(NamedTuple):
    """How long the requests took, by kind, and the CPU of one in ms."""

    took_ms: dict[str, list[float]]
    cpu_ms: float

    def all_ms(self) -> list[float]:
        """Return the times of all kinds."""
        return [each for times in self.took_ms.values() for each in times]


async def time_queries(api: RecordsApi, queries: Iterable[Query]) -> QueryTimes:
    """Send the requests one after another, with the account's key."""
    took_ms: dict[str, list[float]] = {}
    count = 0
    async with aiohttp.ClientSession(headers={"Authorization": api.api_key}) as http:
        await _query_ms(http, f"{api.url}/srmain/account", {})  # caches the API key
        started_s = cpu_s(api.pid)
        for kind, path, params in queries:
            spent_ms = await _query_ms(http, f"{api.url}{path}", params)
            took_ms.setdefault(kind, []).append(spent_ms)
            count += 1
    return QueryTimes(took_ms, (cpu_s(api.pid) - started_s) * 1_000 / count)


async def _query_ms(http: aiohttp.ClientSession, url: str, params: Mapping[str, str]) -> float:
    started_s = time.perf_counter()
    async with http.get(url, params=params) as reply:
        body = await reply.read()
    assert reply.status == 200, body
    return (time.perf_counter() - started_s) * 1_000
