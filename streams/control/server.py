"""The HTTP server of a gateway: streams and reports for engines; health and metrics."""

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
from aiohttp import web
from msgspec import Struct
from prometheus_client import CONTENT_TYPE_LATEST

from base.listen import listening
from streams.control.metrics_page import metrics_page
from streams.control.problems import authentication, problem, problems
from streams.control.recognizers import RecognizerDirectory
from streams.control.report_socket import HEARTBEAT_S, send_reports
from streams.control.reports import ReportHub
from streams.control.service import StreamService
from streams.stream.metrics import StreamMetrics
from wire.decoding import lenient
from wire.streams.setup import Accepted, StreamMessage, StreamSetup

MAX_BODY_BYTES = 262_144
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


class ServerParts(Struct, frozen=True):
    """What the server exposes, and the tokens that it accepts."""

    service: StreamService
    hub: ReportHub
    metrics: StreamMetrics
    recognizers: RecognizerDirectory
    tokens: tuple[str, ...]


class Routes:
    """The handlers."""

    def __init__(self, parts: ServerParts) -> None:
        self._service = parts.service
        self._hub = parts.hub
        self._metrics = parts.metrics
        self._recognizers = parts.recognizers

    def all(self) -> Sequence[web.RouteDef]:
        """Return them with their paths."""
        return (
            web.put("/streams/{stream}", self.set_up),
            web.delete("/streams/{stream}", self.stop),
            web.put("/streams/{stream}/messages/{message}", self.send),
            web.get("/reports", self.reports),
            web.get("/recognizers", self.recognizers),
            web.get("/healthz", self.alive),
            web.get("/readyz", self.ready),
            web.get("/metrics", self.metrics),
        )

    async def set_up(self, request: web.Request) -> web.Response:
        setup = lenient.decode(await request.read() or b"{}", StreamSetup)
        stream = request.match_info["stream"]
        is_new = self._service.set_up(stream, setup)
        return _json(Accepted(stream), 201 if is_new else 200)

    async def stop(self, request: web.Request) -> web.Response:
        self._service.stop(request.match_info["stream"])
        return web.Response(status=204)

    async def send(self, request: web.Request) -> web.Response:
        stream = self._service.table.live(request.match_info["stream"])
        if stream is None:
            return problem(404, "not_found", "no live stream has this id")
        message = lenient.decode(await request.read() or b"{}", StreamMessage)
        stream.send(request.match_info["message"], message)
        return web.Response(status=204)

    async def reports(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
        await socket.prepare(request)
        await send_reports(socket, self._hub, self._service.table.snapshot)
        return socket

    async def recognizers(self, _request: web.Request) -> web.Response:
        return _json(await self._recognizers.read())

    async def alive(self, _request: web.Request) -> web.Response:
        return _json({"status": "ok"})

    async def ready(self, _request: web.Request) -> web.Response:
        faults = ["this gateway shuts down"] if self._service.table.is_draining else []
        body = {"ready": not faults, "faults": faults}
        return _json(body, 503 if faults else 200)

    async def metrics(self, _request: web.Request) -> web.Response:
        page = metrics_page(self._metrics, len(self._service.table), self._hub.engines)
        return web.Response(body=page, headers={"Content-Type": CONTENT_TYPE_LATEST})


@asynccontextmanager
async def serving(
    parts: ServerParts, host: str, port: int, tls: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Serve for as long as the context lasts; raises BindFailed."""
    app = web.Application(
        client_max_size=MAX_BODY_BYTES,
        middlewares=[problems, authentication(parts.tokens, OPEN_PATHS)],
    )
    app.add_routes(Routes(parts).all())
    runner = web.AppRunner(
        app,
        access_log=None,
        auto_decompress=False,  # a compressed body is rejected, not decompressed
        handler_cancellation=True,
        shutdown_timeout=0.5,
    )
    async with listening(runner, host, port, tls):
        yield


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=msgspec.json.encode(body), content_type="application/json"
    )
