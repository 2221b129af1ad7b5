"""A customer's HTTP server for status callbacks: keeps raw requests, and can misbehave."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from tests.harness.servers.web_server import WebServer
from tests.harness.until import MAX_WAIT_S, until

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
HANG_S = 60
FIRST_REFUSAL_STATUS = 300


class CallbackRequest(Struct, frozen=True):
    """One request with the arrival time of its head, on the monotonic clock and the wall clock."""

    at_s: float
    wall_ms: float
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """Return the decoded event."""
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found

    @property
    def id(self) -> str:
        """Return the event's id."""
        return self.headers["webhook-id"]


class CallbackServer(WebServer):
    """Answers 204 unless `answers` has a script for the path."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[CallbackRequest] = []
        self.accepted: list[CallbackRequest] = []  # those of `requests` that got a 2xx status
        self.answers: dict[str, Answer] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve POST on any path."""
        return [web.post("/{path:.*}", self._serve)]

    def ids(self, call: str = "") -> list[str]:
        """Return the event ids in order of arrival, optionally of one call."""
        return [each.id for each in self.requests if each.id.startswith(call)]

    async def wait_for_requests(self, count: int, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until `count` requests have arrived."""
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
        received = CallbackRequest(at_s, wall_ms, request.path, headers, body)
        self.requests.append(received)
        script = self.answers.get(request.path)
        answer = await script(request) if script else web.Response(status=204)
        if answer.status < FIRST_REFUSAL_STATUS:
            self.accepted.append(received)
        return answer


def _wall_ms() -> float:
    return time.time() * 1000


def answer_with(*statuses: int, **headers: str) -> Answer:
    """Answer with these statuses in turn, then repeat the last; headers are the same."""
    remaining = list(statuses)

    async def serve(_request: web.Request) -> web.StreamResponse:
        status = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, headers=named)

    return serve


def refuse_first_attempts(one_in: int) -> Answer:
    """Answer 500 to the first attempt of one event in `one_in`, and 204 to everything else."""
    seen: set[str] = set()

    async def serve(request: web.Request) -> web.StreamResponse:
        event = request.headers["webhook-id"]
        is_first = event not in seen
        seen.add(event)
        return web.Response(status=500 if is_first and len(seen) % one_in == 1 else 204)

    return serve


async def never_answer(_request: web.Request) -> web.StreamResponse:
    """Read the request and never answer."""
    await asyncio.sleep(HANG_S)
    return web.Response()


async def answer_endlessly(request: web.Request) -> web.StreamResponse:
    """Answer 200 with an endless body."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"x" * 65_536)
