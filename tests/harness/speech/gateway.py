"""A gateway of tests: sends audio to a recognizer, and collects what that replies."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.until import MAX_WAIT_S

FRAME_MS = 20


class GatewayStream:
    """One stream to a recognizer."""

    def __init__(self, opened: ClientWebSocketResponse, rate: int) -> None:
        self._socket = opened
        self._frame_bytes = rate * FRAME_MS // 1000 * 2
        self.received: list[dict[str, Any]] = []

    async def send(self, message: dict[str, Any] | str) -> None:
        text = message if isinstance(message, str) else msgspec.json.encode(message).decode()
        await self._socket.send_str(text)

    async def send_bytes(self, message: bytes) -> None:
        await self._socket.send_bytes(message)

    async def send_audio(self, *parts: bytes) -> None:
        """Send audio as frames, as fast as the recognizer takes them."""
        audio = b"".join(parts)
        for start in range(0, len(audio), self._frame_bytes):
            await self._socket.send_bytes(audio[start : start + self._frame_bytes])

    async def send_in_time(self, audio: bytes) -> None:
        """Send audio as frames, one each 20 ms."""
        clock = asyncio.get_running_loop().time
        due_s = clock()
        for start in range(0, len(audio), self._frame_bytes):
            await self._socket.send_bytes(audio[start : start + self._frame_bytes])
            due_s += FRAME_MS / 1000
            await asyncio.sleep(max(0.0, due_s - clock()))

    async def expect(self, kind: str) -> dict[str, Any]:
        """Receive until a message of a kind, which is returned."""
        while True:
            message = await self.next()
            if message["type"] == kind:
                return message

    async def next(self) -> dict[str, Any]:
        """Receive the next message."""
        async with asyncio.timeout(MAX_WAIT_S):
            message = await self._socket.receive()
        assert message.type is WSMsgType.TEXT, (message, self.received)
        self.received.append(msgspec.json.decode(message.data))
        return self.received[-1]

    async def expect_close(self) -> int:
        """Receive until the recognizer closes; return its code."""
        async with asyncio.timeout(MAX_WAIT_S):
            while not self._socket.closed:
                message = await self._socket.receive()
                if message.type is WSMsgType.TEXT:
                    self.received.append(msgspec.json.decode(message.data))
        return self._socket.close_code or 0

    async def close(self) -> None:
        await self._socket.close()

    def break_off(self) -> None:
        """End the connection without a word, as a gateway that is killed."""
        self._socket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def stream(
    server: SpeechProcess, recognizer: str = "grammar", **start: Any
) -> AsyncIterator[GatewayStream]:
    """Open a stream and send its start."""
    async with raw_stream(server, recognizer, start.get("rate", 8000)) as opened:
        await opened.send({"type": "start", **start})
        yield opened


@asynccontextmanager
async def raw_stream(
    server: SpeechProcess, recognizer: str = "grammar", rate: int = 8000
) -> AsyncIterator[GatewayStream]:
    """Open a stream, and send nothing."""
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        ClientSession(headers=headers) as http,
        http.ws_connect(f"{server.url}/recognizers/{recognizer}") as opened,
    ):
        yield GatewayStream(opened, rate)
