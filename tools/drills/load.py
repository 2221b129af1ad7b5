"""Overload: six ways in which a stranger or a customer may keep the service from others.

Wrong keys, slow bodies, idle connections, readers of events, callers of an account's number, and
streams of its calls. Meanwhile another customer, at the
same address, reads its records and calls: each request must be served, and each call recorded.
"""

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiohttp
from msgspec import Struct

from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.live_lab import open_lab
from tests.harness.servers.api import NUMBER, Api
from tests.harness.until import until
from tools.bench.figure import percentile
from tools.drills.account_flood import MAX_CALLS, MAX_STREAMS, AccountFlood, Bots
from tools.drills.trunk import open_trunk

MAX_P99_MS = 100.0
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

    @property
    def p99_ms(self) -> float:
        return percentile(self.latencies_ms, 99)

    def has_failed(self, max_p99_ms: float = MAX_P99_MS) -> bool:
        """Return whether the other customer noticed something, or the attack was not tried."""
        is_served = not self.failures and self.p99_ms < max_p99_ms
        return not (is_served and self.attempts and 0 < self.calls == self.records)


class LoadDrill:
    """A lab, and a REST layer with one customer."""

    def __init__(
        self,
        api: Api,
        http: aiohttp.ClientSession,
        attackers: AsyncExitStack,
        flood: AccountFlood,
    ) -> None:
        self.api = api
        self._flood = flood
        self.outcome = Outcome(Counter(), [], Counter())
        self._http = http  # of the customer, with its key
        self._attackers = attackers

    async def run(self, way: str, seconds: float) -> Outcome:
        """Attack in one way for this long, while the customer works."""
        self.outcome = Outcome(Counter(), [], Counter())
        until_s = time.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(WAYS[way](self, until_s))
            group.create_task(self._read_records(until_s))
            group.create_task(self._call(until_s))
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
        """Read the live events of the customer's account, as often as is allowed."""
        connector = aiohttp.TCPConnector(limit=READERS)
        headers = {"Authorization": self.api.api_key}
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
}


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
        Api(folder / "api", engines=[lab.engine]) as api,
        open_trunk(lab.trunk_port) as trunk,
        Bots() as bots,
        aiohttp.ClientSession(headers={"Authorization": api.api_key}) as http,
        AsyncExitStack() as attackers,
    ):
        drill = LoadDrill(api, http, attackers, AccountFlood(lab, trunk, bots))
        await drill.run("nothing", 1)  # the first requests open files and caches
        yield drill
