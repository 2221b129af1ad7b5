"""The requests to a gateway: what each does, and what it returns."""

import json
import platform
from importlib.metadata import version
from typing import Any, cast

import pytest
from aiohttp import StreamReader, web
from aiohttp.test_utils import make_mocked_request

from streams.control.server import (
    RecognizerDirectory,
    Routes,
    ServerParts,
    authentication,
    metrics_page,
    problems,
)
from streams.control.table import NoRoom
from streams.stream.metrics import StreamMetrics
from streams.stream.stream import Stream
from tests.harness.virtual_time import virtual_time
from tests.unit.streams.control.service_scene import BOT, PBX, Scene
from tests.unit.streams.recording_links import RecordingBot
from wire.decoding.errors import BadInput, InputErrors
from wire.streams.reports import Snapshot

SETUP = {"mediaUrl": PBX, "bot": {"url": BOT, "protocol": "native"}, "account": "a", "callId": "c"}


class Body:
    """The body of a request."""

    def __init__(self, content: object) -> None:
        self._parts = [b"" if content is None else json.dumps(content).encode()]

    async def readany(self) -> bytes:
        return self._parts.pop() if self._parts else b""


class Server:
    """The routes of a gateway, without a port."""

    def __init__(self) -> None:
        self.scene = Scene()
        scene = self.scene
        directory = RecognizerDirectory(None, scene.trust)
        parts = ServerParts(scene.service, scene.hub, scene.metrics, directory, ())
        self._app = web.Application()
        self._app.add_routes(Routes(parts).all())

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Return status and JSON of a response."""
        response = await self.response(method, path, body)
        assert isinstance(response.body, bytes | None)
        if response.body:
            assert response.content_type.endswith("json")
        return response.status, json.loads(response.body or b"{}")

    async def response(self, method: str, path: str, body: object = None) -> web.Response:
        """Return what a handler returns."""
        found = await self._app.router.resolve(make_mocked_request(method, path))
        payload = cast("StreamReader", Body(body))
        request = make_mocked_request(
            method, path, match_info={**found}, payload=payload, client_max_size=0
        )
        response = await found.handler(request)
        assert isinstance(response, web.Response)
        return response


@virtual_time
async def test_a_stream_is_set_up_and_ended() -> None:
    """A repeated request changes nothing; the second end has the stream forgotten."""
    server = Server()
    assert await server.ask("PUT", "/streams/a", SETUP) == (201, {"stream": "a"})
    assert await server.ask("PUT", "/streams/a", SETUP) == (200, {"stream": "a"})
    for ended in (["stopped"], []):
        assert await server.ask("DELETE", "/streams/a") == (204, {})
        assert [each.reason for each in server.scene.ended()] == ended


@pytest.mark.parametrize("body", [None, {}])
@virtual_time
async def test_a_setup_without_its_fields_is_invalid(body: object) -> None:
    """An empty body has none."""
    with pytest.raises(InputErrors) as raised:
        await Server().ask("PUT", "/streams/a", body)
    assert [each.path for each in raised.value.errors] == ["mediaUrl", "bot", "account", "callId"]


@virtual_time
async def test_a_message_reaches_its_bot_once() -> None:
    """If its stream is live; another message has another id."""
    server = Server()
    stream: Stream = server.scene.add("a")
    bot = RecordingBot()
    stream.attach(stream.pbx, bot)
    stream.bot_connected()
    for message in ("1", "1", "2"):
        path = f"/streams/a/messages/{message}"
        body = {"type": "text", "text": message}
        assert await server.ask("PUT", path, body) == (204, {})
    assert [json.loads(each)["text"] for each in bot.texts[1:]] == ["1", "2"]
    stream.end("stopped")
    status, problem = await server.ask("PUT", "/streams/a/messages/3", {})
    assert (status, problem["code"]) == (404, "not_found")
    assert problem["detail"] == "no live stream has this id"


@virtual_time
async def test_health_of_a_gateway() -> None:
    """It is alive while it shuts down, but not ready for calls."""
    server = Server()
    assert await server.ask("GET", "/readyz") == (200, {"ready": True, "faults": []})
    server.scene.table.drain()
    assert await server.ask("GET", "/healthz") == (200, {"status": "ok"})
    assert await server.ask("GET", "/readyz") == (
        503,
        {"ready": False, "faults": ["this gateway shuts down"]},
    )


@virtual_time
async def test_the_metrics_page_counts_streams_and_engines() -> None:
    """As text, with its version."""
    server = Server()
    server.scene.add("a")
    for _ in range(2):
        server.scene.hub.subscribe(Snapshot((), ()))
    response = await server.response("GET", "/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert isinstance(response.body, bytes)
    lines = response.body.decode().splitlines()
    assert {"switchroom_streams 1.0", "switchroom_streams_engines 2.0"} <= {*lines}


@virtual_time
async def test_a_gateway_without_recognizers_says_so() -> None:
    """For `switchroom doctor`."""
    body = {"error": "SWITCHROOM_STREAMS_RECOGNIZERS is not set"}
    assert await Server().ask("GET", "/recognizers") == (200, body)


VERSION, PYTHON = version("switchroom"), platform.python_version()


def test_it_has_streams_engines_and_the_process() -> None:
    """Counters that alerts need are there from the start."""
    lines = metrics_page(StreamMetrics(), 3, 2).decode().splitlines()
    assert {
        "switchroom_streams 3.0",
        "switchroom_streams_engines 2.0",
        'switchroom_streams_ended_total{reason="bot-lost"} 0.0',
        'switchroom_stream_utterances_total{result="not-understood"} 0.0',
    } <= {*lines}
    (build,) = [line for line in lines if line.startswith("switchroom_streams_build_info{")]
    assert build == f'switchroom_streams_build_info{{version="{VERSION}",python="{PYTHON}"}} 1.0'
    words = "process_open_fds ", "python_gc_collections_total"
    assert all(any(line.startswith(word) for line in lines) for word in words)


TOKENS = ("a" * 32, "b" * 32)


async def answer(_request: web.Request) -> web.Response:
    """Answer a request that is allowed."""
    return web.Response(status=204)


@pytest.mark.parametrize(
    ("error", "status", "code", "headers"),
    [
        (BadInput("bot.url", "is no URL"), 400, "invalid", {}),
        (InputErrors((BadInput("bot.url", "is no URL"),)), 400, "invalid", {}),
        (NoRoom("full"), 503, "unavailable", {"Retry-After": "1"}),
        (web.RequestPayloadError("no gzip"), 400, "invalid", {}),
        (web.HTTPNotFound(), 404, "not_found", {}),
        (web.HTTPMethodNotAllowed("GET", ["PUT"]), 405, "method_not_allowed", {"Allow": "PUT"}),
        (RuntimeError("a fault"), 500, "internal", {}),
    ],
)
async def test_an_error_is_a_problem(
    error: Exception, status: int, code: str, headers: dict[str, str]
) -> None:
    """With its code, and the headers of its status; of a fault of the gateway it says nothing."""

    async def fail(_request: web.Request) -> web.Response:
        raise error

    response = await problems(make_mocked_request("PUT", "/streams/x"), fail)
    assert isinstance(response, web.Response)
    assert isinstance(response.body, bytes)
    body = json.loads(response.body)
    assert (response.status, body["status"], body["code"]) == (status, status, code)
    assert response.content_type == "application/problem+json"
    assert {name: response.headers.get(name) for name in headers} == headers
    assert ("errors" in body) is isinstance(error, BadInput | InputErrors)
    assert "a fault" not in str(body)


async def test_who_has_gone_gets_no_problem() -> None:
    """It is no fault of the gateway."""

    async def fail(_request: web.Request) -> web.Response:
        raise ConnectionResetError

    response = await problems(make_mocked_request("GET", "/reports"), fail)
    assert response.status == 200


@pytest.mark.parametrize(
    ("path", "given", "status"),
    [
        ("/reports", f"Bearer {TOKENS[0]}", 204),
        ("/reports", f"Bearer {TOKENS[1]}", 204),
        ("/reports", TOKENS[0], 401),
        ("/reports", None, 401),
        ("/healthz", None, 204),
        ("/healthz/x", None, 401),
    ],
)
async def test_requests_need_one_of_the_tokens(path: str, given: str | None, status: int) -> None:
    """But for open paths; a request without one learns how to give it."""
    check = authentication(TOKENS, {"/healthz"})
    headers = {} if given is None else {"Authorization": given}
    response = await check(make_mocked_request("GET", path, headers=headers), answer)
    assert response.status == status
    assert response.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
