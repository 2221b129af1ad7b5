"""A test double of Deepgram's APIs, live and for files, with the shape of its documentation.

It understands nothing: it answers what a test has prepared.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import WSMsgType, web

KEY = "key-of-a-test-double-of-deepgram-0123456789"


class DeepgramDouble:
    """Collects what a client sends, and replies to each Finalize."""

    def __init__(self) -> None:
        self.transcripts: list[str] = []  # of the next utterances, in parts separated by |
        self.queries: list[Mapping[str, list[str]]] = []
        self.audio_bytes = 0
        self.received: list[str] = []
        self.files: list[bytes] = []
        self.mode = "normal"
        self.key = KEY  # that it accepts

    async def listen(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Authorization") != f"Token {self.key}":
            return web.json_response({"err_code": "INVALID_AUTH"}, status=401)
        self.queries.append({name: request.query.getall(name) for name in request.query})
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.BINARY:
                self.audio_bytes += len(message.data)
            else:
                await self._reply(socket, msgspec.json.decode(message.data)["type"])
        return socket

    async def transcribe(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Token {self.key}":
            return web.json_response({"err_code": "INVALID_AUTH"}, status=401)
        if self.mode == "busy":
            return web.json_response({"err_code": "TOO_MANY_REQUESTS"}, status=429)
        if self.mode == "junk":
            return web.Response(text="<html>")
        self.queries.append({name: request.query.getall(name) for name in request.query})
        self.files.append(await request.read())
        alternative = {"transcript": self.transcripts.pop(0), "confidence": 0.9, "words": []}
        results = {"channels": [{"alternatives": [alternative]}]}
        return web.json_response({"metadata": {"request_id": "a"}, "results": results})

    async def _reply(self, socket: web.WebSocketResponse, kind: str) -> None:
        self.received.append(kind)
        if kind != "Finalize" or self.mode == "silent":
            return
        if self.mode == "closes":
            await socket.close(code=1011, message=b"NET-0000")
            return
        if self.mode == "junk":
            await socket.send_str("<html>")
            return
        await socket.send_json({"type": "Metadata", "channels": 1})
        await socket.send_json({"type": "UtteranceEnd", "channel": [0, 1], "last_word_end": 1.5})
        parts = self.transcripts.pop(0).split("|")
        await socket.send_json(results(parts[0], is_final=False))
        for part in parts[:-1]:
            await socket.send_json(results(part))
        await socket.send_json(results(parts[-1], from_finalize=True))


def results(
    transcript: str, *, is_final: bool = True, from_finalize: bool = False
) -> dict[str, Any]:
    """Return a message with a transcript."""
    confidence = 0.9 if transcript else 0.0
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "duration": 1.0,
        "start": 0.0,
        "is_final": is_final,
        "speech_final": False,
        "from_finalize": from_finalize,
        "channel": {
            "alternatives": [{"transcript": transcript, "confidence": confidence, "words": []}]
        },
        "metadata": {"request_id": "a"},
    }


def settings_at(port: int) -> dict[str, str]:
    """Return the settings of recognizers that know the double at a port."""
    return {
        "SWITCHROOM_SPEECH_DEEPGRAM_KEY": KEY,
        "SWITCHROOM_SPEECH_DEEPGRAM_URL": f"ws://127.0.0.1:{port}/v1/listen",
    }


@asynccontextmanager
async def deepgram_double(port: int) -> AsyncIterator[DeepgramDouble]:
    """Run the double at a port, which may have had one before."""
    double = DeepgramDouble()
    app = web.Application()
    app.router.add_get("/v1/listen", double.listen)
    app.router.add_post("/v1/listen", double.transcribe)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield double
    finally:
        await runner.cleanup()
