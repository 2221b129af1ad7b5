"""A REST layer without one: tests set its responses by method and path.

It rejects what the REST layer's document does not have.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import msgspec
from aiohttp import web

from cli.options.connection import ClientSettings
from cli.rest_client import RestClient, open_rest
from tests.contract.cli.rest_document import fault_of
from tests.harness.cli.forked import Ended, run_forked
from tests.harness.servers.web_server import WebServer

KEY = "swk_1_secret"


class Received(NamedTuple):
    """A request: method, path with query, body and headers."""

    method: str
    path: str
    body: Any
    headers: Mapping[str, str]

    @property
    def query(self) -> dict[str, str]:
        """Return the parameters of the path's query."""
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))


class FakeRest(WebServer):
    """Serves on a free port, which stays the same after `stop` and `start`.

    A response is a value of JSON, or a status with a problem; of a deque, one at a time, and the
    last one again and again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.responses: dict[str, Any] = {}  # by method and path, without /srmain
        self.default: Any = {}  # what is no response of these
        self.requests: list[Received] = []

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve all paths."""
        return [web.route("*", "/{path:.*}", self._answer)]

    @property
    def client(self) -> RestClient:
        """Return a client of it."""
        return open_rest(ClientSettings(api_url=self.url(), api_key=KEY))

    @property
    def typed(self) -> list[tuple[str, str, Any]]:
        """Return method, path and body of each request."""
        return [(each.method, each.path, each.body) for each in self.requests]

    async def run(self, folder: Any, *words: str) -> Ended:
        """Run a command as a customer does, with address and key in the environment."""
        settings = {"SWITCHROOM_API_URL": self.url(), "SWITCHROOM_API_KEY": KEY, "COLUMNS": "100"}
        return await run_forked(words, folder, settings)

    async def _answer(self, request: web.Request) -> web.Response:
        raw = await request.read()
        path = request.path_qs.removeprefix("/srmain")
        body = msgspec.json.decode(raw) if raw else None
        self.requests.append(Received(request.method, path, body, dict(request.headers)))
        if fault := fault_of(request.method, request.raw_path):
            found: Any = problem(400, "bad_request", fault)
        else:
            found = self.responses.get(f"{request.method} {path}", self.default)
        if isinstance(found, deque):
            found = found.popleft() if len(found) > 1 else found[0]
        if isinstance(found, bytes):
            return web.Response(body=found)
        status = found.get("status", 200) if isinstance(found, dict) else 200
        kind = "application/json"
        status = status if isinstance(status, int) else 200
        return web.Response(status=status, body=msgspec.json.encode(found), content_type=kind)


def problem(status: int, code: str, detail: str = "") -> dict[str, Any]:
    """Return an error of the REST layer."""
    return {"title": "Refused", "status": status, "code": code, "detail": detail}
