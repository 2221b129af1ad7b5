"""A fake ARI server: the test sends events and controls replies."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import WSMsgType, web
from aiohttp.test_utils import TestServer

from engine.ari.config import PbxAddress, PbxConnection, Timeouts
from engine.ari.request import Reply

FAST = Timeouts(
    connect_s=1.0,
    close_s=0.1,
    request_s=1.0,
    probe_s=1.0,
    refused_retry_s=0.05,
    first_retry_s=0.01,
    health_interval_s=0.01,
    health_timeout_s=1.0,
)


class FakePbx:
    """Records websockets by app, and all requests."""

    def __init__(self) -> None:
        self.sockets: dict[str, list[web.WebSocketResponse]] = {}
        self.requests: list[dict[str, Any]] = []
        self.http: list[tuple[str, str, Any]] = []
        self.handshake_status = 101
        self.ping_status = 200
        self.subscribes_apps = True
        self.answers_pings = True
        self.before_probe: list[dict[str, Any]] = []
        self.answers: Callable[[dict[str, Any]], bool] = lambda _request: True
        self.hold = asyncio.Event()
        self.hold.set()

    def app(self) -> web.Application:
        """Return the server application."""
        app = web.Application()
        app.router.add_get("/ari/events", self._events)
        app.router.add_route("*", "/ari/{path:.*}", self._rest)
        return app

    async def send_event(self, app: str, **event: Any) -> None:
        """Send an event on the newest websocket of an app."""
        whole = {"application": app, "timestamp": "2026-11-21T04:36:49.461+0000", **event}
        await self.sockets[app][-1].send_str(json.dumps(whole))

    def drop(self, app: str) -> None:
        """Abort the newest websocket of an app, as a crash does."""
        request = self.sockets[app][-1]._req  # noqa: SLF001 - not public in aiohttp
        assert request is not None
        assert request.transport is not None
        request.transport.abort()

    async def _events(self, request: web.Request) -> web.StreamResponse:
        if self.handshake_status != 101:
            return web.Response(status=self.handshake_status)
        await self.hold.wait()
        websocket = web.WebSocketResponse(autoping=self.answers_pings)
        await websocket.prepare(request)
        self.sockets.setdefault(request.query["app"], []).append(websocket)
        async for message in websocket:
            if message.type is WSMsgType.TEXT:  # a ping is here only if it is not answered
                await self._on_request(websocket, json.loads(message.data))
        return websocket

    async def _on_request(self, websocket: web.WebSocketResponse, request: dict[str, Any]) -> None:
        self.requests.append(request)
        if self.answers(request):
            await self.answer(websocket, request["request_id"], request["uri"])

    async def answer(self, websocket: web.WebSocketResponse, request_id: str, body: str) -> None:
        """Reply to one request of a websocket."""
        response = {"request_id": request_id, "status_code": 200, "message_body": body}
        await websocket.send_str(json.dumps({"type": "RESTResponse", **response}))

    async def _rest(self, request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        self.http.append((request.method, request.raw_path, body))
        await self.hold.wait()
        if request.path == "/ari/asterisk/ping":
            return web.Response(status=self.ping_status)
        if request.path.startswith("/ari/events/user/") and self.subscribes_apps:
            app, name = request.query["application"], request.path.rpartition("/")[2]
            for event in (
                *self.before_probe,
                {"type": "ChannelUserevent", "eventname": name, "userevent": {}},
            ):
                await self.send_event(app, **event)
        return web.Response(status=200, text="over http")


@asynccontextmanager
async def fake_pbx(timeouts: Timeouts = FAST) -> AsyncIterator[tuple[FakePbx, PbxConnection]]:
    """Run a fake PBX on a free port; also returns the connection to it."""
    fake = FakePbx()
    server = TestServer(fake.app())
    await server.start_server()
    address = PbxAddress("pbx1", str(server.make_url("/ari")), "user", "secret")
    async with aiohttp.ClientSession(headers=address.headers) as http:
        yield fake, PbxConnection(address, http, random.Random(7).random, time.monotonic, timeouts)
    fake.hold.set()
    await server.close()


@asynccontextmanager
async def running(coroutine: Any) -> AsyncIterator["asyncio.Task[None]"]:
    """Run a coroutine during the test and cancel it at the end."""
    task: asyncio.Task[None] = asyncio.create_task(coroutine)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Replies(list[Reply]):
    """Collects replies, as the `on_reply` of requests."""

    def __call__(self, reply: Reply) -> None:
        self.append(reply)
