"""An account that takes all it can: its number is called without end, and its calls have streams.

It has the limits of a new account. The other account's calls must be placed, and its bot reached.
"""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiohttp import web

from api.accounts.store import NEW_ACCOUNT
from tests.harness.live_lab import Lab
from tests.harness.servers.api import ACCOUNT
from tests.harness.servers.web_server import WebServer
from tools.drills.trunk import Trunk

MAX_CALLS, MAX_STREAMS = 60, 10  # of the drill's engine and gateway
INVITES_PER_S = 50
CALL_INTERVAL_S = 1.0  # of the other account, whose bot ends each call
FORKS = 4  # of a call, beside its own stream
RESPONSE_TIMEOUT_S = 10


class Bots(WebServer):
    """The flooder's bots stay; that of the other account leaves at once."""

    def __init__(self) -> None:
        super().__init__()
        self.has_greeted = asyncio.Event()  # the other account's

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Return the addresses of both."""
        return [web.get("/stays", self._stay), web.get("/leaves", self._leave)]

    def stream(self, path: str, *, fork: bool = False) -> dict[str, object]:
        """Return the verb that connects a caller with a bot."""
        return {
            "type": "stream",
            "data": {"url": self.url(path).replace("http", "ws"), "fork": fork},
        }

    async def _stay(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for _ in socket:
            pass
        return socket

    async def _leave(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.has_greeted.set()
        return socket


class AccountFlood:
    """The flooder, the other account with its bot, and the carrier that calls both."""

    def __init__(self, lab: Lab, trunk: Trunk, bots: Bots) -> None:
        self._lab = lab
        self._trunk = trunk
        self._bots = bots
        self._flooders = (f"flooder{number}" for number in itertools.count())

    async def call_without_end(self, until_s: float) -> Counter[str]:
        """Call the flooder's number, whose calls stay; return how its calls were answered."""
        pause = {"type": "pause", "data": {"length": 3_600}}
        async with self._flooding(pause) as number:
            return await self._invite(number, until_s)

    async def take_streams(self, until_s: float, failures: Counter[str]) -> Counter[str]:
        """Let each call of the flooder have five streams, and call a number with another's bot."""
        action = self._bots.stream("/stays")
        for _ in range(FORKS):
            action = {**self._bots.stream("/stays", fork=True), "action": action}
        async with self._flooding(action) as number, asyncio.TaskGroup() as group:
            group.create_task(self._reach_bot(until_s, failures))
            return await self._invite(number, until_s)

    async def _reach_bot(self, until_s: float, failures: Counter[str]) -> None:
        number = await self._lab.add_number(self._bots.stream("/leaves"), account=ACCOUNT)
        while time.monotonic() < until_s:
            self._bots.has_greeted.clear()
            self._trunk.invite(self._lab.pbx.sip_port, number)
            try:
                async with asyncio.timeout(RESPONSE_TIMEOUT_S):
                    await self._bots.has_greeted.wait()
            except TimeoutError:
                failures["no stream"] += 1
            await asyncio.sleep(CALL_INTERVAL_S)  # the other account's own rate

    @asynccontextmanager
    async def _flooding(self, action: object) -> AsyncIterator[str]:
        """Let the flooder have a number with this action; its calls end with the context."""
        flooder, limits = next(self._flooders), {"maxCalls": NEW_ACCOUNT.max_calls}
        await self._lab.engine.rpc("PUT", f"/terms/{flooder}", limits)
        yield await self._lab.add_number(action, account=flooder)
        await self._lab.engine.rpc("PUT", f"/terms/{flooder}", {"isStopped": True})
        await self._lab.wait_empty()

    async def _invite(self, number: str, until_s: float) -> Counter[str]:
        before = self._trunk.responses.copy()
        next_s = time.monotonic()
        while next_s < until_s:
            self._trunk.invite(self._lab.pbx.sip_port, number)
            next_s += 1 / INVITES_PER_S
            await asyncio.sleep(next_s - time.monotonic())  # the offered load
        return self._trunk.responses - before
