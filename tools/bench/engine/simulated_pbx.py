"""A simulated PBX in its own process: ARI over real websockets and HTTP, without SIP and media.

`python -m tools.bench.engine.simulated_pbx NAME ARI_PORT [AMI_PORT]`; `POST /simulated/run` runs a
Load. Without a port, there is no AMI.
"""

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec
import uvloop
from aiohttp import web
from msgspec import Struct

from tools.bench.engine.simulated_call import Send
from tools.bench.engine.simulated_calls import Load, SimulatedCalls
from tools.bench.engine.simulated_manager import SimulatedManager
from tools.bench.engine.simulated_socket import Socket
from wire.webhooks import GatherResult

PLAY = re.compile(r"^channels/([^/]+)/play/([^/?]+)\?media=([^&]*)")


class _Request(Struct, frozen=True):
    request_id: str
    method: str
    uri: str


_read = msgspec.json.Decoder(_Request).decode
_read_load = msgspec.json.Decoder(Load).decode
_read_gathered = msgspec.json.Decoder(GatherResult).decode


class SimulatedPbx:
    """Answers ARI requests of engines, and passes requests for calls to them."""

    def __init__(self, name: str) -> None:
        self._calls = SimulatedCalls(name)
        self._sockets: dict[str, Socket] = {}
        self._manager = SimulatedManager(lambda: list(self._calls.live))

    async def serve_manager(self, port: int) -> AsyncIterator[None]:
        """Serve AMI while the web application runs."""
        serving = asyncio.create_task(self._manager.run(port))
        yield
        serving.cancel()

    def app(self) -> web.Application:
        """Return the web application."""
        app = web.Application()
        app.router.add_get("/ari/events", self._events)
        app.router.add_route("*", "/ari/{path:.*}", self._http)
        app.router.add_post("/simulated/run", self._run)
        app.router.add_post("/simulated/hangup", self._hang_up_all)
        app.router.add_post("/simulated/webhook", self._webhook)
        app.router.add_get("/simulated/websockets", self._websockets)
        return app

    async def _events(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse()
        await websocket.prepare(request)
        app = request.query["app"]
        peer = request.transport.get_extra_info("peername") if request.transport else ("", 0)
        socket = self._sockets[app] = Socket(websocket, peer[1])
        await socket.serve(lambda text: self._on_request(socket, _read(text)))
        if self._sockets.get(app) is socket:
            del self._sockets[app]
        return websocket

    def _on_request(self, socket: Socket, request: _Request) -> None:
        status, body = self._answer(request.method, request.uri)
        response = {
            "type": "RESTResponse",
            "transaction_id": request.request_id,
            "request_id": request.request_id,
            "status_code": status,
            "reason_phrase": "OK",
            "uri": request.uri,
            "content_type": "application/json",
            "message_body": msgspec.json.encode(body).decode() if body is not None else "",
        }
        socket.send(msgspec.json.encode(response))

    async def _http(self, request: web.Request) -> web.Response:
        status, body = self._answer(request.method, request.path_qs.removeprefix("/ari/"))
        return web.json_response(body, status=status)

    def _answer(self, method: str, uri: str) -> tuple[int, Any]:
        kind, _, rest = uri.partition("/")
        if (kind, method) == ("channels", "GET"):
            return 200, [call.channel for call in self._calls.live.values()]
        if kind == "channels":
            return self._channel(method, uri, rest.partition("?")[0].split("/"))
        if kind == "playbacks":
            return 404, {"message": "Playback not found"}
        if kind == "events":
            return self._user_event(rest.removeprefix("user/"))
        return 200, [] if kind in {"bridges", "endpoints", "recordings"} else {"endpoint_ids": []}

    def _user_event(self, rest: str) -> tuple[int, Any]:
        """Send an app the user event that it requested, which proves its subscription."""
        name, _, query = rest.partition("?application=")
        event = {"type": "ChannelUserevent", "eventname": name, "userevent": {}}
        event |= {"application": query, "timestamp": "2026-01-01T00:00:00.000+0000"}
        self._sockets[query].send(msgspec.json.encode(event))
        return 204, None

    def _channel(self, method: str, uri: str, path: list[str]) -> tuple[int, Any]:
        call = self._calls.live.get(path[0])
        if call is None:
            return 404, {"message": "Channel not found"}
        if method == "DELETE":
            call.hang_up()
        elif path[1:] == ["answer"]:
            call.answer()
        elif match := PLAY.match(uri):
            playback = {"id": match[2], "media_uri": match[3], "language": "en"}
            playback |= {"target_uri": f"channel:{path[0]}", "state": "queued"}
            call.play(playback)
            return 201, playback
        return 204, None

    async def _run(self, request: web.Request) -> web.Response:
        load = _read_load(await request.read())
        result = await self._calls.run(load, self._connected_apps)
        return web.Response(body=msgspec.json.encode(result), content_type="application/json")

    def _connected_apps(self) -> list[tuple[str, Send]]:
        """Return the connected apps that take calls, each with its send function."""
        apps = [app for app in self._sockets if app[-1:].isdigit() and "-rest-" not in app]
        return [(app, partial(self._send, app)) for app in apps]

    def _send(self, app: str, frame: bytes) -> None:
        """Send an event to an app; it is lost if the app is not connected, as on a PBX."""
        if socket := self._sockets.get(app):
            socket.send(frame)

    async def _webhook(self, request: web.Request) -> web.Response:
        """Serve as the customer's webhook, so that one clock times the digit and the webhook."""
        at_s = time.monotonic()
        result = _read_gathered(await request.read())
        if call := self._calls.live.get(result.to.channel_id):
            call.on_webhook(at_s)
        return web.json_response({"type": "hangup", "data": {}})

    async def _websockets(self, _request: web.Request) -> web.Response:
        """Return the port of each websocket's other end."""
        return web.json_response([each.peer_port for each in self._sockets.values()])

    async def _hang_up_all(self, _request: web.Request) -> web.Response:
        self._calls.hang_up_all()
        return web.json_response({})


def main() -> None:
    """Serve until killed."""
    name, port, *manager_port = sys.argv[1:]
    pbx = SimulatedPbx(name)
    app = pbx.app()
    if manager_port:
        app.cleanup_ctx.append(lambda _app: pbx.serve_manager(int(manager_port[0])))
    loop = uvloop.new_event_loop()
    web.run_app(app, host="127.0.0.1", port=int(port), loop=loop, access_log=None)


if __name__ == "__main__":
    main()
