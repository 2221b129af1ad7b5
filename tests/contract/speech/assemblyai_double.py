"""A test double of AssemblyAI's streaming API, with the shape of its documentation.

It understands nothing: it answers what a test has prepared.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

KEY = "key-of-a-test-double-of-assemblyai-0123456789"
MIN_MESSAGE_MS, MAX_MESSAGE_MS = 50, 1000


class AssemblyAiDouble:
    """Collects what a client sends, and ends a turn for each ForceEndpoint."""

    def __init__(self) -> None:
        self.transcripts: list[str] = []  # of the next turns; an empty one is no turn
        self.queries: list[Mapping[str, str]] = []
        self.received: list[str] = []
        self.mode = "normal"
        self.key = KEY  # that it accepts
        self.heard_ms = 0.0
        self._order = 0

    async def listen(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != self.key:
            return web.Response(status=401, text="Not authorized")
        self.queries.append(dict(request.query))
        rate = int(request.query["sample_rate"])
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if self.mode == "full":
            await self._fail(socket, 3009, "Too many concurrent sessions")
            return socket
        await socket.send_json({"type": "Begin", "id": "session-1", "expires_at": 1759796682})
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                await self._hear(socket, len(message.data) / 2 / rate * 1000)
            else:
                await self._reply(socket, msgspec.json.decode(message.data)["type"])
        return socket

    async def _hear(self, socket: web.WebSocketResponse, length_ms: float) -> None:
        if not MIN_MESSAGE_MS <= length_ms <= MAX_MESSAGE_MS:
            await self._fail(socket, 3007, "Input Duration Error")
            return
        self.heard_ms += length_ms
        if self.mode == "partials":
            self.mode = "normal"
            await socket.send_json({"type": "SpeechStarted", "timestamp": 20})
            await socket.send_json(self._turn(self.transcripts[0]))

    async def _reply(self, socket: web.WebSocketResponse, kind: str) -> None:
        self.received.append(kind)
        if kind != "ForceEndpoint":
            return
        match self.mode:
            case "closes":
                await socket.close(code=1011, message=b"Internal error")
            case "junk":
                await socket.send_str("<html>")
            case "error":
                await self._fail(socket, 3005, "Server error")
            case "unformatted":
                await socket.send_json(self._turn(self.transcripts.pop(0), is_end=True))
            case _:
                await self._end_turn(socket, self.transcripts.pop(0))

    async def _end_turn(self, socket: web.WebSocketResponse, text: str) -> None:
        if not text:
            return
        bare = text.lower().rstrip(".")
        await socket.send_json(self._turn(bare, is_end=True))
        await socket.send_json(self._turn(text, is_end=True, is_formatted=True))
        self._order += 1

    def _turn(
        self, text: str, *, is_end: bool = False, is_formatted: bool = False
    ) -> dict[str, Any]:
        """Return a turn whose words were said in the last moments."""
        end_ms = int(self.heard_ms)
        words = [
            {
                "text": each,
                "start": max(0, end_ms - 300),
                "end": max(0, end_ms - 100),
                "confidence": 0.9,
                "word_is_final": is_end,
            }
            for each in text.split()
        ]
        return {
            "type": "Turn",
            "turn_order": self._order,
            "turn_is_formatted": is_formatted,
            "end_of_turn": is_end,
            "transcript": text if is_end else "",
            "end_of_turn_confidence": 1.0 if is_end else 0.1,
            "words": words,
        }

    async def _fail(self, socket: web.WebSocketResponse, code: int, text: str) -> None:
        await socket.send_json({"type": "Error", "error_code": code, "error": text})
        await socket.close(code=code, message=b"See Error message for details")


def settings_at(port: int) -> dict[str, str]:
    """Return the settings of recognizers that know the double at a port."""
    return {
        "SWITCHROOM_SPEECH_ASSEMBLYAI_KEY": KEY,
        "SWITCHROOM_SPEECH_ASSEMBLYAI_URL": f"ws://127.0.0.1:{port}/v3/ws",
    }


@asynccontextmanager
async def assemblyai_double(port: int) -> AsyncIterator[AssemblyAiDouble]:
    """Run the double at a port, which may have had one before."""
    double = AssemblyAiDouble()
    app = web.Application()
    app.router.add_get("/v3/ws", double.listen)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield double
    finally:
        await runner.cleanup()
