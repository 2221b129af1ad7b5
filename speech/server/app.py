"""The HTTP server: a websocket for each recognizer, their list, and health."""

import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from ssl import SSLContext

from aiohttp import web
from msgspec import Struct, json

from base.listen import listening
from speech.recognizer import Recognizer
from speech.server.stream import MAX_MESSAGE_BYTES, Stream, StreamLimits
from wire.error_codes.catalogue import code_of_status
from wire.error_codes.problems import coded_problem
from wire.streams.recognizer import ListedRecognizer

_CLOSE_S = 5.0


class SpeechServer(Struct, frozen=True):
    """The recognizers that are served, and the token that requests need."""

    recognizers: Mapping[str, Recognizer]
    token: str
    tls: SSLContext | None = None
    limits: StreamLimits = StreamLimits()


@asynccontextmanager
async def serving(server: SpeechServer, host: str, port: int) -> AsyncIterator[web.AppRunner]:
    """Serve for as long as the context lasts; raises BindFailed."""
    # Streams end with the server, not after it.
    runner = web.AppRunner(
        _app(server), access_log=None, handler_cancellation=True, shutdown_timeout=0.5
    )
    async with listening(runner, host, port, server.tls):
        yield runner


def _app(server: SpeechServer) -> web.Application:
    app = web.Application()

    async def recognize(request: web.Request) -> web.StreamResponse:
        if not _is_authorized(request, server.token):
            return _problem(401, "a bearer token is needed")
        recognizer = server.recognizers.get(request.match_info["name"])
        if recognizer is None:
            return _problem(404, f"the recognizers are {', '.join(server.recognizers)}")
        # No heartbeat: a dead gateway is found as it sends no audio, and one that sends a recording
        # cannot answer a ping while it waits for the recognizer to read.
        socket = web.WebSocketResponse(max_msg_size=MAX_MESSAGE_BYTES, timeout=_CLOSE_S)
        if not socket.can_prepare(request):
            return _problem(400, "this is the address of a websocket")
        await socket.prepare(request)
        await Stream(socket, recognizer, server.limits).run()
        return socket

    async def list_recognizers(request: web.Request) -> web.Response:
        if not _is_authorized(request, server.token):
            return _problem(401, "a bearer token is needed")
        listed = [
            ListedRecognizer(name, tuple(sorted(each.languages)))
            for name, each in server.recognizers.items()
        ]
        return web.Response(body=json.encode(listed), content_type="application/json")

    async def healthy(_request: web.Request) -> web.Response:
        return web.Response(text="ok")

    app.router.add_get("/recognizers", list_recognizers)
    app.router.add_get("/recognizers/{name}", recognize)
    app.router.add_get("/healthz", healthy)
    app.router.add_get("/readyz", healthy)
    return app


def _is_authorized(request: web.Request, token: str) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    sent = given.encode(errors="surrogateescape")  # a header may have any bytes
    return scheme.lower() == "bearer" and hmac.compare_digest(sent, token.encode())


def _problem(status: int, detail: str) -> web.Response:
    problem = coded_problem(status, code_of_status(status), detail)
    headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else None
    return web.Response(
        status=status,
        body=json.encode(problem),
        content_type="application/problem+json",
        headers=headers,
    )
