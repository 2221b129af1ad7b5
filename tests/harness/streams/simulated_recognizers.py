"""Simulated recognizers that misbehave, each in its own way, by name."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import WSCloseCode, web

Behaviour = Callable[[web.Request, web.WebSocketResponse], Awaitable[None]]
READY = {"type": "ready", "recognizer": "simulated"}


def failing(code: str, close_code: int) -> Behaviour:
    """Return one that sends an error after the start, and closes."""

    async def behave(_request: web.Request, socket: web.WebSocketResponse) -> None:
        await socket.receive()
        message = {"type": "error", "code": code, "message": "simulated"}
        await socket.send_str(json.dumps(message))
        await socket.close(code=close_code)

    return behave


async def never_ready(_request: web.Request, socket: web.WebSocketResponse) -> None:
    """Read, and say nothing."""
    async for _ in socket:
        pass


async def never_reading(_request: web.Request, socket: web.WebSocketResponse) -> None:
    """Accept the start, and read nothing after it."""
    await socket.receive()
    await socket.send_str(json.dumps(READY))
    await asyncio.Event().wait()


async def dying(request: web.Request, socket: web.WebSocketResponse) -> None:
    """Hear the beginning of an utterance, and break the connection as a killed process does."""
    await socket.receive()
    await socket.send_str(json.dumps(READY))
    await socket.receive()
    await socket.send_str(json.dumps({"type": "speech-started", "atMs": 0}))
    await socket.receive()
    assert request.transport is not None
    request.transport.abort()


async def restarting(_request: web.Request, socket: web.WebSocketResponse) -> None:
    """Close as a server that shuts down."""
    await socket.receive()
    await socket.send_str(json.dumps(READY))
    await socket.close(code=WSCloseCode.GOING_AWAY)


async def talking(_request: web.Request, socket: web.WebSocketResponse) -> None:
    """Send what nobody understands."""
    await socket.receive()
    for _ in range(100):
        await socket.send_str(json.dumps({"type": "final"}))
    async for _ in socket:
        pass


BEHAVIOURS: Mapping[str, Behaviour] = {
    "overloaded": failing("overloaded", WSCloseCode.TRY_AGAIN_LATER),
    "failed": failing("failed", WSCloseCode.INTERNAL_ERROR),
    "unknown-words": failing("unknown-words", WSCloseCode.POLICY_VIOLATION),
    "never-ready": never_ready,
    "never-reading": never_reading,
    "dying": dying,
    "restarting": restarting,
    "talking": talking,
}
PAGES = {"page": 200, "forbidden": 403, "unavailable": 503, "redirect": 302}


class SimulatedRecognizers:
    """A server of recognizers at a port."""

    def __init__(self, port: int) -> None:
        self._port = port
        app = web.Application()
        app.router.add_get("/speech/recognizers/{name}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name in PAGES:
            headers = {"Location": "/elsewhere"} if name == "redirect" else None
            page = "<html>a page of a proxy</html>"
            return web.Response(
                status=PAGES[name], text=page, content_type="text/html", headers=headers
            )
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await BEHAVIOURS[name](request, socket)
        return socket
