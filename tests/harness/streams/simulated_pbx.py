"""A simulated PBX: the media server of Asterisk's chan_websocket, without Asterisk.

It plays a frame every 20 ms and nothing when it has none, returns marks when they are reached,
pauses, and flushes. The caller's frames are sent at the same clock.
"""

import asyncio
import json
import ssl
import time
from collections import deque

from aiohttp import WSMsgType, web

FRAME_S = 0.02
ULAW_SILENCE = b"\xff" * 160


class SimulatedChannel:
    """One stream's channel: what the caller says, and what was played to them."""

    def __init__(self, audio_format: str, silence: bytes) -> None:
        self.format = audio_format
        self.silence = silence
        self.to_say: deque[bytes] = deque()  # frames of the caller
        self.played: list[tuple[float, bytes]] = []
        self.commands: list[tuple[float, str]] = []
        self.is_connected = False
        self.is_closed = asyncio.Event()
        self.max_queue = 0
        self._queue: deque[bytes | str] = deque()
        self._is_paused = False
        self._times = 1
        self._socket: web.WebSocketResponse | None = None

    def say_faster(self, times: int) -> None:
        """Send so many frames of the caller at once, every 20 ms."""
        self._times = times

    def audio(self) -> list[bytes]:
        """Return the frames that were played and are not silence."""
        return [frame for _, frame in self.played if frame != self.silence]

    async def hang_up(self) -> None:
        """Close the websocket, as Asterisk does at the end of a channel."""
        if self._socket is not None:
            await self._socket.close()

    async def serve(self, socket: web.WebSocketResponse) -> None:
        """Serve one connection until it ends."""
        self.is_connected = True
        self._socket = socket
        start = {"event": "MEDIA_START", "format": self.format, "ptime": 20,
                 "optimal_frame_size": len(self.silence)}  # fmt: skip
        await socket.send_str(json.dumps(start))
        clock = asyncio.create_task(self._tick(socket))
        try:
            async for message in socket:
                if message.type == WSMsgType.BINARY:
                    self._queue.append(message.data)
                    self.max_queue = max(self.max_queue, len(self._queue))
                elif message.type == WSMsgType.TEXT:
                    command = json.loads(message.data)
                    self._obey(command)
                    if command["command"] == "GET_STATUS":
                        status = {"event": "STATUS", "queue_length": len(self._queue)}
                        await socket.send_str(json.dumps(status))
        finally:
            clock.cancel()
            self.is_closed.set()

    def _obey(self, command: dict[str, str]) -> None:
        name = command["command"]
        self.commands.append((time.monotonic(), name))
        match name:
            case "FLUSH_MEDIA":
                self._queue.clear()
            case "PAUSE_MEDIA":
                self._is_paused = True
            case "CONTINUE_MEDIA":
                self._is_paused = False
            case "MARK_MEDIA":
                self._queue.append(command["correlation_id"])

    async def _tick(self, socket: web.WebSocketResponse) -> None:
        due_s = time.monotonic()
        while not socket.closed:
            for _ in range(self._times):
                await socket.send_bytes(self.to_say.popleft() if self.to_say else self.silence)
            if not self._is_paused:
                await self._play(socket)
            due_s += FRAME_S
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))

    async def _play(self, socket: web.WebSocketResponse) -> None:
        while self._queue:
            item = self._queue.popleft()
            if isinstance(item, bytes):
                self.played.append((time.monotonic(), item))
                return
            event = {"event": "MEDIA_MARK_PROCESSED", "correlation_id": item}
            await socket.send_str(json.dumps(event))


class SimulatedPbx:
    """The media server; a channel is made before its stream is set up."""

    def __init__(self) -> None:
        self._channels: dict[str, SimulatedChannel] = {}
        self._runner = web.AppRunner(self._application(), shutdown_timeout=0.1)
        self.url = ""
        self.may_accept = asyncio.Event()  # a busy PBX leaves handshakes without a response
        self.may_accept.set()
        self.waiting = 0  # handshakes

    def add(self, name: str, audio_format: str = "ulaw", size: int = 0) -> SimulatedChannel:
        """Return a new channel; `size` is that of a frame with another format."""
        silence = b"\x00" * size if size else ULAW_SILENCE
        channel = self._channels[name] = SimulatedChannel(audio_format, silence)
        return channel

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        """Serve, over TLS if there is a context for it."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        scheme = "wss" if tls else "ws"
        self.url = f"{scheme}://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/media/{name}", self._serve)
        return app

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.waiting += 1
        await self.may_accept.wait()
        self.waiting -= 1
        channel = self._channels.get(request.match_info["name"])
        if channel is None:
            return web.Response(status=404)
        if channel.is_connected:
            return web.Response(status=409)
        socket = web.WebSocketResponse(protocols=("media",))
        await socket.prepare(request)
        await channel.serve(socket)
        return socket
