"""A test double of OpenAI's APIs, realtime and for files, with the shape of its documentation.

It understands nothing: it answers what a test has prepared.
"""

from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import BodyPartReader, WSMsgType, web

KEY = "sk-proj-key-of-a-test-double-of-openai-0123456789"
MIN_COMMIT_BYTES = 4_800  # 100 ms at 24 kHz
TRANSCRIPTION = "conversation.item.input_audio_transcription"


class OpenAiDouble:
    """Collects what a client sends, and transcribes each commit."""

    def __init__(self) -> None:
        self.transcripts: list[str] = []  # of the next utterances, in deltas separated by |
        self.sessions: list[dict[str, Any]] = []
        self.audio_bytes: list[int] = []  # of each commit
        self.files: list[tuple[bytes, dict[str, list[str]]]] = []
        self.mode = "normal"
        self.key = KEY  # that it accepts
        self._held: list[dict[str, Any]] = []  # completions that wait for the next commit

    async def realtime(self, request: web.Request) -> web.StreamResponse:
        if self.mode == "busy":
            return web.json_response({"error": {"code": "rate_limit_exceeded"}}, status=429)
        if request.query.get("intent") != "transcription" or "model" in request.query:
            return web.json_response({"error": {"code": "invalid_request"}}, status=400)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if request.headers.get("Authorization") != f"Bearer {self.key}":
            await socket.send_json(_error("invalid_api_key"))
            await socket.close(code=3000, message=b"invalid_request_error.invalid_api_key")
            return socket
        await socket.send_json({"type": "session.created", "session": {"id": "sess_1"}})
        buffered = 0
        async for message in socket:
            assert message.type is WSMsgType.TEXT
            event = msgspec.json.decode(message.data)
            match event["type"]:
                case "session.update":
                    await self._update(socket, event["session"])
                case "input_audio_buffer.append":
                    buffered += len(b64decode(event["audio"]))
                    await self._hear(socket, is_first=buffered == len(b64decode(event["audio"])))
                case "input_audio_buffer.commit":
                    await self._commit(socket, buffered)
                    buffered = 0
        return socket

    async def transcribe(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {self.key}":
            return web.json_response({"error": {"code": "invalid_api_key"}}, status=401)
        if self.mode == "busy":
            return web.json_response({"error": {"code": "rate_limit_exceeded"}}, status=429)
        if self.mode == "junk":
            return web.Response(text="<html>")
        file, fields = b"", dict[str, list[str]]()
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            if part.name == "file":
                file = bytes(await part.read())
            else:
                fields.setdefault(part.name or "", []).append(await part.text())
        self.files.append((file, fields))
        return web.json_response({"text": self.transcripts.pop(0), "usage": {"seconds": 1}})

    async def _update(self, socket: web.WebSocketResponse, session: dict[str, Any]) -> None:
        self.sessions.append(session)
        await socket.send_json({"type": "session.updated", "session": session})

    async def _hear(self, socket: web.WebSocketResponse, *, is_first: bool) -> None:
        """Return a delta before the commit, as a model for callers does."""
        if self.mode == "live" and is_first:
            await socket.send_json(self._delta(self.transcripts[0].split("|", maxsplit=1)[0]))

    async def _commit(self, socket: web.WebSocketResponse, audio_bytes: int) -> None:
        if audio_bytes < MIN_COMMIT_BYTES:
            await socket.send_json(_error("input_audio_buffer_commit_empty"))
            return
        item = self._item
        self.audio_bytes.append(audio_bytes)
        match self.mode:
            case "silent":
                return
            case "closes":
                await socket.close(code=1011, message=b"keepalive ping timeout")
            case "junk":
                await socket.send_str("<html>")
            case "limited":
                await socket.send_json(_error("rate_limit_exceeded"))
            case "fails":
                await socket.send_json({**_error(None), "type": f"{TRANSCRIPTION}.failed"})
            case _:
                await socket.send_json({"type": "input_audio_buffer.committed", "item_id": item})
                await self._answer(socket, item)

    async def _answer(self, socket: web.WebSocketResponse, item: str) -> None:
        parts = self.transcripts.pop(0).split("|")
        for part in parts[1:] if self.mode == "live" else parts:
            await socket.send_json(self._delta(part, item))
        if self.mode == "unfinished":
            return
        completed = {
            "type": f"{TRANSCRIPTION}.completed",
            "item_id": item,
            "content_index": 0,
            "transcript": "".join(parts),
            "usage": {"type": "duration", "seconds": 1.0},
        }
        if "include" in self.sessions[-1]:
            completed["logprobs"] = [{"token": "a", "bytes": [97], "logprob": -0.1}] * 3
        self._held.insert(0, completed)
        if self.mode != "reversed" or len(self._held) == 2:
            for each in self._held:
                await socket.send_json(each)
            self._held.clear()

    @property
    def _item(self) -> str:
        return f"item_{len(self.audio_bytes)}"

    def _delta(self, text: str, item: str = "") -> dict[str, Any]:
        kind = f"{TRANSCRIPTION}.delta"
        return {"type": kind, "item_id": item or self._item, "content_index": 0, "delta": text}


def _error(code: str | None) -> dict[str, Any]:
    details = {"type": "server_error", "code": code, "message": f"Not with {KEY}.", "param": None}
    return {"type": "error", "event_id": "event_1", "error": details}


def settings_at(port: int) -> dict[str, str]:
    """Return the settings of recognizers that know the double at a port."""
    return {
        "SWITCHROOM_SPEECH_OPENAI_KEY": KEY,
        "SWITCHROOM_SPEECH_OPENAI_URL": f"ws://127.0.0.1:{port}/v1/realtime",
    }


@asynccontextmanager
async def openai_double(port: int) -> AsyncIterator[OpenAiDouble]:
    """Run the double at a port, which may have had one before."""
    double = OpenAiDouble()
    app = web.Application()
    app.router.add_get("/v1/realtime", double.realtime)
    app.router.add_post("/v1/audio/transcriptions", double.transcribe)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield double
    finally:
        await runner.cleanup()
