"""Overload: ways in which a stranger or a customer may keep the service from others.

Wrong keys, slow bodies, idle connections, readers of events, callers of an account's number,
streams of its calls, and floods of requests (`tools/drills/floods.py`). Meanwhile another customer,
at the same address, reads its records, calls and uploads: each request must be served, and each
call recorded.
"""

import asyncio
import json
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import aiohttp
from msgspec import Struct

from api.accounts.store import Account, AccountStore
from api.auth.key_store import KeyStore, generate_credentials
from api.common.clock import now_ms
from api.db.database import Database
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.live_lab import open_lab
from tests.harness.servers.api import NUMBER, Api
from tests.harness.until import until
from tools.bench.figure import percentile
from tools.drills import floods
from tools.drills.account_flood import MAX_CALLS, MAX_STREAMS, AccountFlood, Bots
from tools.drills.floods import Flood
from tools.drills.trunk import open_trunk

MAX_P99_MS = 100.0
MAX_RATIO = 3.0  # of the p99 during a flood to that without an attack
MAX_UPLOAD_S, UPLOAD_INTERVAL_S = 5.0, 4.0
KEYS_PER_S, BATCH = 500, 10
SLOW_BODIES, CONNECTIONS, READERS = 200, 1_000, 200
PROBE_INTERVAL_S = 0.02
TURN_S = 1.0  # of slow and idle connections
RECORD_TIMEOUT_S = 20
CALLED = "+4721930009"
CONNECT_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=10)


class Outcome(Struct):
    """What the attackers were told, and what the other customer noticed meanwhile."""

    attempts: Counter[str]  # by the answer
    latencies_ms: list[float]
    failures: Counter[str]  # of the other customer, by status
    calls: int = 0
    records: int = 0
    slowest_upload_s: float = 0.0

    @property
    def p99_ms(self) -> float:
        return percentile(self.latencies_ms, 99)

    def has_failed(self, max_p99_ms: float = MAX_P99_MS) -> bool:
        """Return whether the other customer noticed something, or the attack was not tried."""
        is_served = not self.failures and self.p99_ms < max_p99_ms
        is_served &= self.slowest_upload_s < MAX_UPLOAD_S
        return not (is_served and self.attempts and 0 < self.calls == self.records)


class LoadDrill:
    """A lab, and a REST layer with one customer."""

    def __init__(
        self,
        api: Api,
        http: aiohttp.ClientSession,
        key: str,
        attackers: AsyncExitStack,
        flood: AccountFlood,
    ) -> None:
        """`http` is the customer's session, `key` that of another account, which attacks."""
        self.api = api
        self._flood = flood
        self.outcome = Outcome(Counter(), [], Counter())
        self._http = http
        self._key = key
        self._attackers = attackers

    async def run(self, way: str, seconds: float) -> Outcome:
        """Attack in one way for this long, while the customer works."""
        self.outcome = Outcome(Counter(), [], Counter())
        until_s = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(WAYS[way](self, until_s))
            group.create_task(self._read_records(until_s))
            group.create_task(self._call(until_s))
            group.create_task(self._upload(until_s))
        await self._attackers.aclose()
        return self.outcome

    async def nothing(self, until_s: float) -> None:
        """Attack in no way: what the machine itself costs."""
        self.outcome.attempts["nothing"] += 1
        await asyncio.sleep(until_s - time.monotonic())  # while the customer works

    async def wrong_keys(self, until_s: float) -> None:
        """Guess keys, half of them with the id of the customer's key."""
        known = self.api.api_key.rpartition("_")[0]
        async with aiohttp.ClientSession() as http, asyncio.TaskGroup() as group:
            next_s = time.monotonic()
            while next_s < until_s:
                for number in range(BATCH):
                    name = known if number % 2 else f"swk_{secrets.token_hex(6)}"
                    group.create_task(self._guess(http, f"{name}_{secrets.token_urlsafe(32)}"))
                next_s += BATCH / KEYS_PER_S
                await asyncio.sleep(next_s - time.monotonic())  # the offered load

    async def slow_bodies(self, until_s: float) -> None:
        """Send requests for a token whose bodies arrive by one byte a second."""
        head = b"POST /auth/get-access-token/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n"
        await self._hold(SLOW_BODIES, head, b"{", until_s)

    async def idle_connections(self, until_s: float) -> None:
        """Open connections that send nothing."""
        await self._hold(CONNECTIONS, b"", b"", until_s)

    async def event_readers(self, until_s: float) -> None:
        """Read the live events of an account, as often as is allowed."""
        connector = aiohttp.TCPConnector(limit=READERS)
        headers = {"Authorization": self._key}
        async with (
            aiohttp.ClientSession(
                headers=headers, connector=connector, timeout=CONNECT_TIMEOUT
            ) as http,
            asyncio.TaskGroup() as group,
        ):
            for _ in range(READERS):
                group.create_task(self._read_events(http, until_s))

    async def inbound_calls(self, until_s: float) -> None:
        """Let an account's number be called more often than the engine has calls."""
        self.outcome.attempts += await self._flood.call_without_end(until_s)

    async def streams(self, until_s: float) -> None:
        """Let an account's calls have more streams than the gateway."""
        failures = self.outcome.failures
        self.outcome.attempts += await self._flood.take_streams(until_s, failures)

    async def flood(self, until_s: float, way: str) -> None:
        """Ask as fast as it is answered, from a process of its own."""
        left_s = str(until_s - time.monotonic())
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tools.drills.floods", self.api.url, way, left_s),
            env={**os.environ, floods.KEY: self._key},
            stdout=asyncio.subprocess.PIPE,
        )
        answers, _ = await process.communicate()
        self.outcome.attempts += Counter(json.loads(answers))

    async def _guess(self, http: aiohttp.ClientSession, key: str) -> None:
        async with http.get(f"{self.api.url}/srmain/cdr", headers={"Authorization": key}) as reply:
            self.outcome.attempts[str(reply.status)] += 1

    async def _hold(self, count: int, head: bytes, part: bytes, until_s: float) -> None:
        """Keep connections open, and open those again that the service closes."""
        held: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        while time.monotonic() < until_s:
            for reader, writer in held:
                if reader.at_eof():
                    self.outcome.attempts["closed"] += 1
                    writer.close()
                else:
                    writer.write(part)
            held = [each for each in held if not each[0].at_eof()]
            while len(held) < count and time.monotonic() < until_s:
                held.append(await asyncio.open_connection("127.0.0.1", self.api.port))
                held[-1][1].write(head)
                self.outcome.attempts["opened"] += 1
            await asyncio.sleep(min(TURN_S, max(0, until_s - time.monotonic())))  # the attack's
        for _, writer in held:
            self._attackers.callback(writer.close)

    async def _read_events(self, http: aiohttp.ClientSession, until_s: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(until_s - time.monotonic()):
                async with http.get(f"{self.api.url}/srmain/voice/events") as reply:
                    self.outcome.attempts[str(reply.status)] += 1
                    await reply.read()

    async def _read_records(self, until_s: float) -> None:
        while time.monotonic() < until_s:
            started_s = time.monotonic()
            status = await self._status("/srmain/cdr", REQUIRED)
            self.outcome.latencies_ms.append((time.monotonic() - started_s) * 1_000)
            if status != 200:
                self.outcome.failures[str(status)] += 1
            await asyncio.sleep(PROBE_INTERVAL_S)  # the customer's own rate

    async def _call(self, until_s: float) -> None:
        """Call, one after another, and wait for each call's record."""
        while time.monotonic() < until_s:
            self.outcome.calls += 1
            request = {"from": NUMBER, "to": CALLED}
            async with self._http.post(f"{self.api.url}/srmain/voice/call", json=request) as reply:
                if reply.status != 201:
                    self.outcome.failures[f"call {reply.status}"] += 1
                    continue
                call = (await reply.json())["callId"]
            try:
                await self._wait_for_record(call)
                self.outcome.records += 1
            except TimeoutError:
                self.outcome.failures["no record"] += 1

    async def _upload(self, until_s: float) -> None:
        """Upload small files, now and then: each starts a process."""
        connector = aiohttp.TCPConnector(force_close=True)  # none is closed while it is idle
        headers = {"Authorization": self.api.api_key}
        async with aiohttp.ClientSession(headers=headers, connector=connector) as http:
            flood = Flood(self.api.url, http, Counter())
            while time.monotonic() < until_s:
                started_s = time.monotonic()
                status, _ = await flood.upload(b"Phone,Name\r\n+4790000001,Ada\r\n", "small")
                took_s = time.monotonic() - started_s
                self.outcome.slowest_upload_s = max(self.outcome.slowest_upload_s, took_s)
                if status != 201:
                    self.outcome.failures[f"upload {status}"] += 1
                left_s = max(0.0, until_s - time.monotonic())
                await asyncio.sleep(min(UPLOAD_INTERVAL_S, left_s))  # the customer's own rate

    async def _wait_for_record(self, call: str) -> None:
        async def is_recorded() -> bool:
            return await self._status(f"/srmain/cdr/{call}", {}) == 200

        await until(is_recorded, timeout_s=RECORD_TIMEOUT_S, every_s=0.1, what="the record")

    async def _status(self, path: str, query: dict[str, str]) -> int:
        async with self._http.get(self.api.url + path, params=query) as reply:
            await reply.read()
            return reply.status


WAYS: dict[str, Callable[[LoadDrill, float], Coroutine[None, None, None]]] = {
    "nothing": LoadDrill.nothing,
    "wrong keys": LoadDrill.wrong_keys,
    "slow bodies": LoadDrill.slow_bodies,
    "idle connections": LoadDrill.idle_connections,
    "event readers": LoadDrill.event_readers,
    "inbound calls": LoadDrill.inbound_calls,
    "streams": LoadDrill.streams,
    **{way: partial(LoadDrill.flood, way=way) for way in floods.WAYS},
}
# Those of a production, which the harness lifts.
SETTINGS = {
    "SWITCHROOM_API_DOCS": "true",
    "SWITCHROOM_API_REQUESTS_PER_S": "200",
    "SWITCHROOM_API_MAX_REQUESTS_OF_ACCOUNT": "100",
    "SWITCHROOM_API_LOOP_SHARE": "0.2",
    "SWITCHROOM_API_STRANGER_REQUESTS_PER_S": "50",
}


def max_p99_ms(way: str, quiet_ms: float) -> float:
    """Return the limit of the customer's p99: during a flood it is also one of the ratio."""
    return min(MAX_P99_MS, MAX_RATIO * quiet_ms) if way in floods.WAYS else MAX_P99_MS


async def _attacker(api: Api) -> str:
    """Create an account in the database of the REST layer; return its key."""
    database = Database(f"sqlite+aiosqlite:///{api.folder / 'switchroom.db'}")
    try:
        credentials = generate_credentials()
        await AccountStore(database, now_ms).add(Account("attacker", "attacker"))
        await KeyStore(database, now_ms).add("attacker", credentials)
        return credentials.api_key
    finally:
        await database.close()


@asynccontextmanager
async def open_load_drill(folder: Path) -> AsyncIterator[LoadDrill]:
    """Run servers, and a carrier that rejects all calls as busy."""
    async with (
        open_lab(
            folder,
            engine_settings={"SWITCHROOM_MAX_CALLS": str(MAX_CALLS)},
            gateways=1,
            gateway_settings={"SWITCHROOM_MAX_STREAMS": str(MAX_STREAMS)},
        ) as lab,
        Api(folder / "api", engines=[lab.engine], settings=SETTINGS) as api,
        open_trunk(lab.trunk_port) as trunk,
        Bots() as bots,
        aiohttp.ClientSession(headers={"Authorization": api.api_key}) as http,
        AsyncExitStack() as attackers,
    ):
        drill = LoadDrill(
            api, http, await _attacker(api), attackers, AccountFlood(lab, trunk, bots)
        )
        await drill.run("nothing", 1)  # the first requests open files and caches
        yield drill
