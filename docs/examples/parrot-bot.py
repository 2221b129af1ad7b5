"""A voice bot in Twilio's documented messages: it repeats each phrase of the caller.

pip install aiohttp
python docs/examples/parrot-bot.py      # ws://127.0.0.1:7860
switchroom route set +4721930000 '{"type": "stream", "data": {"url": "ws://127.0.0.1:7860"}}'

It stops when the caller begins to speak, and `#` ends the conversation.
"""

import base64
import os
from typing import Any

from aiohttp import WSMsgType, web

LOUD = 0x30  # of a µ-law byte without its sign, inverted: about -31 dB
PAUSE_MS = 600  # silence that ends a phrase
FRAME_MS = 20


class Parrot:
    """One conversation."""

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket
        self._stream = ""
        self._phrase = bytearray()
        self._quiet_ms = 0
        self._is_speaking = False  # until the mark behind its audio comes back

    async def take(self, message: dict[str, Any]) -> None:
        """React to one message."""
        match message["event"]:
            case "start":
                self._stream = message["start"]["streamSid"]
            case "media" if message["media"]["track"] == "inbound":
                await self._hear(base64.b64decode(message["media"]["payload"]))
            case "mark":
                self._is_speaking = False
            case "dtmf" if message["dtmf"]["digit"] == "#":
                await self._socket.close()
            case _:  # connected, other digits, stop
                pass

    async def _hear(self, audio: bytes) -> None:
        is_loud = sum(~byte & 0x7F for byte in audio) > LOUD * len(audio)
        self._quiet_ms = 0 if is_loud else self._quiet_ms + FRAME_MS
        if is_loud and self._is_speaking:
            await self._send("clear")  # the mark comes back at once
        if is_loud or self._phrase:
            self._phrase += audio
        if self._phrase and self._quiet_ms >= PAUSE_MS:
            await self._repeat()

    async def _repeat(self) -> None:
        payload = base64.b64encode(self._phrase).decode()
        self._phrase.clear()
        self._is_speaking = True
        await self._send("media", media={"payload": payload})
        await self._send("mark", mark={"name": "phrase"})

    async def _send(self, event: str, **content: object) -> None:
        await self._socket.send_json({"event": event, "streamSid": self._stream, **content})


async def talk(request: web.Request) -> web.WebSocketResponse:
    """Hold a conversation on one websocket."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    parrot = Parrot(socket)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await parrot.take(message.json())
    return socket


if __name__ == "__main__":
    app = web.Application()
    app.add_routes([web.get("/", talk)])
    web.run_app(app, host="127.0.0.1", port=int(os.environ.get("PORT", "7860")), print=None)
