"""A customer that is told of calls: a real HTTP server that keeps raw bodies, and may be bad."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from tests.harness.servers.web_server import WebServer
from tests.harness.until import until

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
HANG_S = 60
FIRST_REFUSAL_STATUS = 300


class CallbackRequest(Struct, frozen=True):
    """One request as it came: when its head did, by this process' monotonic clock and the wall."""

    at_s: float
    wall_ms: float
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """Give the event."""
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found

    @property
    def id(self) -> str:
        """Give the event's id."""
        return self.headers["webhook-id"]


class CallbackServer(WebServer):
    """Answers 204 where no path is scripted."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[CallbackRequest] = []
        self.accepted: list[CallbackRequest] = []  # of them: those that were answered well
        self.answers: dict[str, Answer] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Take any POST."""
        return [web.post("/{path:.*}", self._serve)]

    def ids(self, call: str = "") -> list[str]:
        """List the ids of what came, of one call if named, in order."""
        return [each.id for each in self.requests if each.id.startswith(call)]

    async def wait_for_requests(self, count: int, timeout_s: float = 10) -> None:
        """Wait until so many requests have come."""
        await until(
            lambda: len(self.requests) >= count,
            timeout_s=timeout_s,
            every_s=0.005,
            what=f"{count} callbacks",
        )

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        at_s, wall_ms = loop.time(), _wall_ms()
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = await request.read()
        got = CallbackRequest(at_s, wall_ms, request.path, headers, body)
        self.requests.append(got)
        script = self.answers.get(request.path)
        answer = await script(request) if script else web.Response(status=204)
        if answer.status < FIRST_REFUSAL_STATUS:
            self.accepted.append(got)
        return answer


def _wall_ms() -> float:
    return time.time() * 1000


def answer_with(*statuses: int, **headers: str) -> Answer:
    """Answer with statuses, each once and the last for ever; all with the same headers."""
    left = list(statuses)

    async def serve(_request: web.Request) -> web.StreamResponse:
        status = left.pop(0) if len(left) > 1 else left[0]
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, headers=named)

    return serve


async def never_answer(_request: web.Request) -> web.StreamResponse:
    """Take it and never answer."""
    await asyncio.sleep(HANG_S)
    return web.Response()


async def answer_endlessly(request: web.Request) -> web.StreamResponse:
    """Answer 200, and then for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"x" * 65_536)
