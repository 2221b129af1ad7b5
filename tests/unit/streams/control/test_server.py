"""The requests to a gateway: what each does, and what it returns."""

import json
from typing import Any, cast

import pytest
from aiohttp import StreamReader, web
from aiohttp.test_utils import make_mocked_request

from streams.control.recognizers import RecognizerDirectory
from streams.control.server import Routes, ServerParts
from streams.stream.stream import Stream
from tests.harness.virtual_time import virtual_time
from tests.unit.streams.control.service_scene import BOT, PBX, Scene
from tests.unit.streams.recording_links import RecordingBot
from wire.decoding.errors import InputErrors
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
