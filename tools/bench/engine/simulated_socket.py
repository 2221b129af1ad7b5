"""One websocket of the simulated PBX; frames of one loop iteration are sent together."""

import asyncio
from collections.abc import Callable

from aiohttp import WSMsgType, web


class Socket:
    """Sends without waiting; `serve` reads until the peer closes."""

    def __init__(self, websocket: web.WebSocketResponse, peer_port: int) -> None:
        self.peer_port = peer_port
        self._websocket = websocket
        self._outbox: list[bytes] = []
        self._wake = asyncio.Event()

    def send(self, frame: bytes) -> None:
        """Send a text frame, in order."""
        self._outbox.append(frame)
        self._wake.set()

    async def serve(self, take: Callable[[str], None]) -> None:
        """Pass every received text to `take` until the websocket is closed."""
        writing = asyncio.create_task(self._write())
        try:
            async for message in self._websocket:
                take(message.data)
        finally:
            writing.cancel()

    async def _write(self) -> None:
        while await self._wake.wait():
            self._wake.clear()
            frames, self._outbox = self._outbox, []
            for frame in frames:
                await self._websocket.send_frame(frame, WSMsgType.TEXT)
