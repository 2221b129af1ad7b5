"""A customer's webhook server: answers are scripted by path, requests are kept with their times.

async with WebhookServer() as hooks:
    hooks.answers("/next", {"type": "hangup", "data": {}})
    hooks.url("/next"); await hooks.wait_for_request("/next"); hooks.requests[0].body
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from aiohttp import web
from msgspec import Struct

from tests.harness.monotonic import now_ms
from tests.harness.servers.web_server import WebServer
from tests.harness.until import MAX_WAIT_S, until

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
NO_ANSWER_S = 60


class WebhookRequest(Struct, frozen=True):
    """One request: arrival of its head (monotonic ms), path, headers and JSON body."""

    at_ms: float
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def id(self) -> str:
        """Return the request id, which is the same in each repetition."""
        return self.headers["webhook-id"]


class WebhookServer(WebServer):
    """Answers POST requests; a path without a script gets 404."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[WebhookRequest] = []
        self._scripts: dict[str, list[Answer]] = {}

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve POST on any path."""
        return [web.post("/{path:.*}", self._serve)]

    def answers(self, path: str, *answers: object, after_ms: int = 0) -> str:
        """Script a path and return its address; answers are given in turn, the last one repeats.

        Answers are JSON bodies, None for an empty one, or `status(500)`, `page()`, `silent()`, ….
        """
        self._scripts[path] = [_slowed(_answer(each), after_ms) for each in answers]
        return self.url(path)

    def requests_to(self, path: str) -> list[WebhookRequest]:
        """Return the requests to a path."""
        return [each for each in self.requests if each.path == path]

    async def wait_for_request(
        self, path: str, times: int = 1, timeout_s: float = MAX_WAIT_S
    ) -> WebhookRequest:
        """Wait for the request number `times` to a path and return it."""
        await until(
            lambda: len(self.requests_to(path)) >= times,
            timeout_s=timeout_s,
            every_s=0.005,
            what=f"{times} requests to {path}",
        )
        return self.requests_to(path)[times - 1]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        at_ms = now_ms()
        body = json.loads(await request.read() or b"{}")
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(WebhookRequest(at_ms, request.path, headers, body))
        script = self._scripts.get(request.path)
        if script is None:
            raise web.HTTPNotFound
        return await (script.pop(0) if len(script) > 1 else script[0])(request)


def status(code: int) -> Answer:
    """Answer with a status and no action."""
    return _fixed(lambda: web.Response(status=code))


def page() -> Answer:
    """Answer with an HTML page."""
    return _fixed(lambda: web.Response(text="<html>Log in</html>", content_type="text/html"))


def raw(body: bytes) -> Answer:
    """Answer with these bytes."""
    return _fixed(lambda: web.Response(body=body, content_type="application/json"))


def silent() -> Answer:
    """Read the request and never answer."""

    async def serve(_request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(NO_ANSWER_S)
        return web.Response()

    return serve


def _answer(answer: object) -> Answer:
    if callable(answer):
        scripted: Answer = answer
        return scripted
    return raw(b"" if answer is None else json.dumps(answer).encode())


def _fixed(make: Callable[[], web.Response]) -> Answer:
    async def serve(_request: web.Request) -> web.StreamResponse:
        return make()

    return serve


def _slowed(answer: Answer, after_ms: int) -> Answer:
    async def serve(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(after_ms / 1000)
        return await answer(request)

    return serve if after_ms else answer
