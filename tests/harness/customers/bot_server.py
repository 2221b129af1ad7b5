"""A customer's bot behind the messages of Twilio Media Streams; a test says what it does.

async with BotServer() as bots:
    bots.url("/bot")                      # of the verb `stream`
    bot = await bots.wait_for_bot()       # connected, and its `start` has arrived
    await bot.say(tone(600, 300)); await bot.mark("greeting"); await bot.clear()
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp import WSMsgType, web
from msgspec import Struct

from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import Frame, Samples, ToneSpan, tones
from tests.harness.phones.g711 import ULAW
from tests.harness.servers.web_server import WebServer
from tests.harness.until import MAX_WAIT_S, until

FRAME_BYTES = 160


class BotMessage(Struct, frozen=True):
    """A message to the bot, without those of audio; `at_ms` is monotonic."""

    at_ms: float
    event: str
    body: Mapping[str, Any]


class Bot:
    """One connection of a bot."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.headers = {name.lower(): value for name, value in request.headers.items()}
        self.start: dict[str, Any] = {}
        self.frames: list[Frame] = []
        self.messages: list[BotMessage] = []
        self.is_closed = False
        self._socket = socket

    @property
    def stream_id(self) -> str:
        """Return the id of its stream, as the engine has it."""
        return str(self.start["switchroom"]["stream"])

    async def say(self, samples: Samples) -> None:
        """Send audio, all at once, in frames of 20 ms."""
        data = ULAW.encode(samples)
        for at in range(0, len(data), FRAME_BYTES):
            await self.send_media(data[at : at + FRAME_BYTES])

    async def send_media(self, payload: bytes) -> None:
        """Send one piece of encoded audio."""
        media = {"payload": b64encode(payload).decode()}
        await self.send({"event": "media", "media": media})

    async def mark(self, name: str) -> None:
        """Ask for a message when the audio so far was heard."""
        await self.send({"event": "mark", "mark": {"name": name}})

    async def clear(self) -> None:
        """Drop the audio that was not heard yet."""
        await self.send({"event": "clear"})

    async def run(self, action: object) -> None:
        """Let the call run an action, and come back."""
        await self.send({"event": "switchroom", "action": action})

    async def send(self, message: Mapping[str, object]) -> None:
        """Send any message, with the id of the stream."""
        await self._socket.send_str(json.dumps({**message, "streamSid": self.start["streamSid"]}))

    async def close(self, code: int = 1000) -> None:
        """Close the connection with a code of RFC 6455."""
        await self._socket.close(code=code)

    def messages_of(self, event: str) -> list[BotMessage]:
        """Return the messages of a kind: start, mark, dtmf, stop, switchroom."""
        return [each for each in self.messages if each.event == event]

    async def wait_for(self, event: str, times: int = 1) -> BotMessage:
        """Wait for a message of a kind and return it."""
        await until(
            lambda: len(self.messages_of(event)) >= times,
            every_s=0.005,
            what=f"{times} messages {event} to the bot",
        )
        return self.messages_of(event)[times - 1]

    def tones_heard(self, *candidates: int) -> list[ToneSpan]:
        """Return the tones that the bot has heard."""
        return tones(self.frames, candidates)

    async def until_hears(self, hz: int) -> None:
        """Wait until the bot hears a tone."""
        await until(lambda: bool(self.tones_heard(hz)), what=f"the bot to hear {hz} Hz")

    async def wait_closed(self) -> None:
        """Wait until the connection has ended."""
        await until(lambda: self.is_closed, what="the bot's connection to end")

    def take_media(self, media: Mapping[str, Any]) -> bytes:
        """Keep a frame, and return its payload."""
        payload = b64decode(media["payload"])
        timestamp = int(media["timestamp"]) * 8
        number = int(media["chunk"]) & 0xFFFF
        self.frames.append(Frame(now_ms(), 0, number, timestamp, ULAW.decode(payload)))
        return payload


class BotServer(WebServer):
    """Accepts bots' connections on any path; one that echoes sends all audio back."""

    def __init__(self, *, echoes: bool = False) -> None:
        super().__init__()
        self.bots: list[Bot] = []
        self._echoes = echoes

    def url(self, path: str = "") -> str:
        """Return the address of a bot."""
        return super().url(path).replace("http", "ws", 1)

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        """Serve websockets on any path."""
        return [web.get("/{path:.*}", self._serve)]

    async def wait_for_bot(self, number: int = 1, timeout_s: float = MAX_WAIT_S) -> Bot:
        """Wait for a connection whose `start` has arrived, and return it."""
        await until(
            lambda: len(self.bots) >= number and bool(self.bots[number - 1].start),
            timeout_s=timeout_s,
            every_s=0.005,
            what=f"bot {number}",
        )
        return self.bots[number - 1]

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        bot = Bot(socket, request)
        self.bots.append(bot)
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(bot, json.loads(message.data))
        finally:
            bot.is_closed = True
        return socket

    async def _take(self, bot: Bot, body: dict[str, Any]) -> None:
        if body["event"] == "media":
            payload = bot.take_media(body["media"])
            if self._echoes:
                await bot.send_media(payload)
            return
        bot.messages.append(BotMessage(now_ms(), body["event"], body))
        if body["event"] == "start":
            bot.start = body["start"]
