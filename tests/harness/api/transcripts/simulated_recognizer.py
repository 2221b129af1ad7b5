"""A simulated recognizer: understands nothing, and says what it counted; it fails in given ways."""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

from tests.harness.servers.web_server import WebServer
from wire.streams.recognizer import (
    FinalTranscript,
    FromRecognizer,
    RecognizerError,
    RecognizerReady,
)

TOKEN = "token-of-a-simulated-recognizer"  # noqa: S105 - of a test's own server

ODD = (  # times outside of the recording, and backwards; confidences outside of their range
    FinalTranscript("late", 1.5, 86_400_000, 86_400_001),
    FinalTranscript("early", -0.5, -20, 5),
    FinalTranscript("backwards", 0.12345, 9, 3),
)
CONTROLS = "bad\x00hint\x1b[31m\r\n"  # texts may have any characters


class SimulatedRecognizer(WebServer):
    """It behaves as its `mode` says: normal, or as one of those below."""

    def __init__(self) -> None:
        super().__init__()
        self.mode = "normal"
        self.starts: list[dict[str, Any]] = []
        self.streams = 0  # live ones
        self.most_streams = 0
        self.audio: list[bytes] = []  # of streams that ended
        self.is_hearing = asyncio.Event()  # the first audio of a late one has arrived
        self.may_end = asyncio.Event()  # of a late one

    @property
    def address(self) -> str:
        return self.url().replace("http", "ws", 1)

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [web.get("/recognizers/double", self._recognize)]

    async def _recognize(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"title": "unauthenticated"}, status=401)
        if self.mode == "html":
            return web.Response(text="<html>")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.streams += 1
        self.most_streams = max(self.streams, self.most_streams)
        try:
            await self._serve(socket)
        finally:
            self.streams -= 1
        return socket

    async def _serve(self, socket: web.WebSocketResponse) -> None:
        self.starts.append(msgspec.json.decode(await socket.receive_str()))
        match self.mode:
            case "busy":
                await send(socket, RecognizerError("overloaded", "1 recordings already"))
                await socket.close(code=1013)
            case "rejecting":
                await send(socket, RecognizerError("unsupported-language", "language: en only"))
                await socket.close(code=1008)
            case "rejecting_rudely":
                await send(socket, RecognizerError("invalid-hint", CONTROLS))
                await socket.close(code=1008)
            case "closing":
                await socket.close(code=1000)
            case "junk":
                await socket.send_str("<html>")
                await socket.receive()
            case "silent":
                await socket.receive()
            case _:
                await send(socket, RecognizerReady("double"))
                await self._hear(socket)

    async def _hear(self, socket: web.WebSocketResponse) -> None:
        if self.mode == "deaf":  # it reads no audio at all
            await self.may_end.wait()
        heard = bytearray()
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                break
            heard += message.data
            if self.mode == "late" or (self.mode == "late_second" and len(self.starts) > 1):
                self.is_hearing.set()
                await self.may_end.wait()
        if self.mode == "failing":
            await send(socket, RecognizerError("failed", "the recognizer failed"))
            await socket.close(code=1011)
            return
        if self.mode == "endless":
            await socket.receive()
            return
        self.audio.append(bytes(heard))
        if self.mode == "odd":
            for final in ODD:
                await send(socket, final)
        text = CONTROLS if self.mode == "rude" else f"{len(heard)} bytes"
        await send(socket, FinalTranscript("", 0.0, 0, 10))  # a cough
        await send(socket, FinalTranscript(text, 0.75, 20, len(heard) // 16))
        await socket.close(code=1000)


async def send(socket: web.WebSocketResponse, message: FromRecognizer) -> None:
    """Send a message of the protocol."""
    await socket.send_str(msgspec.json.encode(message).decode())
