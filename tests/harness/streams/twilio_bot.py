"""A bot for Twilio's Media Streams: it echoes, or says what a test gives it."""

import asyncio
import base64
import json
import ssl
import time
from typing import Any

from aiohttp import WSMsgType, web


class TwilioBot:
    """A websocket server for one stream after the other."""

    def __init__(self, *, is_echo: bool = False) -> None:
        self._is_echo = is_echo
        self.messages: list[dict[str, Any]] = []  # without audio
        self.heard: list[tuple[float, bytes]] = []  # frames of the caller
        self.headers: dict[str, str] = {}
        self.connected = asyncio.Event()
        self.close_code: int | None = None
        self._socket: web.WebSocketResponse | None = None
        self._sid = ""
        app = web.Application()
        app.router.add_get("/bot", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        self.url = ""

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        """Serve, over TLS if there is a context for it."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=tls).start()
        scheme = "wss" if tls else "ws"
        self.url = f"{scheme}://127.0.0.1:{self._runner.addresses[0][1]}/bot"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def send(self, event: str, **fields: Any) -> None:
        """Send a message."""
        assert self._socket is not None
        await self._socket.send_str(json.dumps({"event": event, "streamSid": self._sid, **fields}))

    async def say(self, audio: bytes) -> None:
        """Send audio in one message."""
        await self.send("media", media={"payload": base64.b64encode(audio).decode()})

    async def mark(self, name: str) -> None:
        """Ask for a mark."""
        await self.send("mark", mark={"name": name})

    async def close(self, code: int = 1000) -> None:
        """Close the websocket."""
        assert self._socket is not None
        await self._socket.close(code=code)

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the messages of one kind."""
        return [each for each in self.messages if each["event"] == event]

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.headers = dict(request.headers)
        self._socket = socket
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                continue
            found = json.loads(message.data)
            if found["event"] == "media":
                payload = base64.b64decode(found["media"]["payload"])
                self.heard.append((time.monotonic(), payload))
                if self._is_echo:
                    await self.say(payload)
                continue
            self.messages.append(found)
            if found["event"] == "start":
                self._sid = found["streamSid"]
                self.connected.set()
        self.close_code = socket.close_code
        return socket
