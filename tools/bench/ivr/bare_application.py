"""A bare ARI application that runs the standard call: the anchor of the benches.

It is what such a call costs at least with aiohttp: one websocket for events, one for requests, and
a dict with an entry for each channel. Nothing is stored, limited, repeated or recovered.
`python -m tools.bench.ivr.bare_application` reads its environment: see `bare_process.py`.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import aiohttp
from aiohttp import ClientSession, web

from engine.ari.config import UNUSED_EVENTS

APP = "bare"
DIGITS = 4
DIGIT_TIMEOUT_S = 5.0
FIRST_ERROR_STATUS = 400
GONE_STATUS = 404  # the caller has hung up
Event = dict[str, Any]


class Message(Protocol):
    """A message of a websocket."""

    @property
    def data(self) -> Any: ...


class Websocket(Protocol):
    """What the application uses of aiohttp's websockets."""

    def __aiter__(self) -> AsyncIterator[Message]: ...

    async def send_str(self, data: str) -> None:
        """Send a text."""


class Call:
    """What is known of one channel."""

    def __init__(self) -> None:
        self.digits = ""
        self.has_second = False
        self.timer: asyncio.TimerHandle | None = None


class Requests:
    """Sends requests over a websocket and reports those that fail."""

    def __init__(self, websocket: Websocket) -> None:
        self._websocket = websocket
        self._ids = count()

    async def send(self, method: str, uri: str) -> None:
        """Send a request without waiting for its reply."""
        number = str(next(self._ids))
        ids = {"request_id": number, "transaction_id": number}
        request = {"type": "RESTRequest", **ids, "method": method, "uri": uri}
        await self._websocket.send_str(json.dumps(request))

    async def read_replies(self) -> None:
        """Read replies until the websocket closes."""
        async for message in self._websocket:
            reply = json.loads(message.data)
            status = reply.get("status_code", 0)
            if status >= FIRST_ERROR_STATUS and status != GONE_STATUS:
                print(reply, flush=True)  # noqa: T201 - the log of the process


class BareApplication:
    """Answer, play, collect four digits, play, hang up; `audio` is the address of the prompts."""

    def __init__(
        self, requests: Requests, audio: str, digit_timeout_s: float = DIGIT_TIMEOUT_S
    ) -> None:
        self._requests = requests
        self._audio = audio
        self._digit_timeout_s = digit_timeout_s
        self._calls: dict[str, Call] = {}
        self._late: set[asyncio.Task[None]] = set()

    async def read_events(self, websocket: Websocket) -> None:
        """Handle events until the websocket closes."""
        async for message in websocket:
            await self._on_event(json.loads(message.data))

    async def _on_event(self, event: Event) -> None:
        match event["type"]:
            case "StasisStart":
                self._calls[event["channel"]["id"]] = Call()
                await self._requests.send("POST", f"channels/{event['channel']['id']}/answer")
            case "ChannelStateChange" if event["channel"]["state"] == "Up":
                await self._play(event["channel"]["id"], "first")
            case "ChannelDtmfReceived":
                await self._on_digit(event["channel"]["id"], event["digit"])
            case "PlaybackFinished":
                await self._on_playback_finished(event["playback"]["id"])
            case "StasisEnd":
                self._forget(event["channel"]["id"])
            case _:
                pass

    async def _on_digit(self, channel: str, digit: str) -> None:
        call = self._calls.get(channel)
        if call is not None:
            call.digits += digit
            if len(call.digits) == DIGITS:
                await self._play_second(channel)

    async def _on_playback_finished(self, playback: str) -> None:
        channel, _, prompt = playback.rpartition("-")
        call = self._calls.get(channel)
        if prompt == "second":
            await self._requests.send("DELETE", f"channels/{channel}")
        elif call is not None and not call.has_second:
            loop = asyncio.get_running_loop()
            call.timer = loop.call_later(self._digit_timeout_s, self._on_timeout, channel)

    def _on_timeout(self, channel: str) -> None:
        task = asyncio.create_task(self._play_second(channel))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _play_second(self, channel: str) -> None:
        call = self._calls.get(channel)
        if call is not None and not call.has_second:
            call.has_second = True
            if call.timer is not None:
                call.timer.cancel()
            await self._play(channel, "second")

    async def _play(self, channel: str, prompt: str) -> None:
        media = f"sound:{self._audio}/media/{prompt}.wav"
        uri = f"channels/{channel}/play/{channel}-{prompt}?media={media}"
        await self._requests.send("POST", uri)

    def _forget(self, channel: str) -> None:
        call = self._calls.pop(channel, None)
        if call is not None and call.timer is not None:
            call.timer.cancel()


async def main() -> None:
    """Serve calls until Asterisk closes a websocket or the process is ended."""
    ari, port = os.environ["BARE_ARI_URL"], int(os.environ["BARE_PORT"])
    login = aiohttp.encode_basic_auth(os.environ["BARE_USER"], os.environ["BARE_PASSWORD"])
    async with (
        ClientSession(headers={"Authorization": login}) as http,
        http.ws_connect(f"{ari}/events?app={APP}") as events,
        http.ws_connect(f"{ari}/events?app={APP}-requests") as replies,
    ):
        await _set_filter(http, ari)
        requests = Requests(replies)
        application = BareApplication(requests, f"http://127.0.0.1:{port}")
        await _serve_prompts(Path(os.environ["BARE_PROMPTS"]), port)
        await asyncio.gather(application.read_events(events), requests.read_replies())


async def _set_filter(http: ClientSession, ari: str) -> None:
    """Filter the events that an engine filters."""
    unused = {"disallowed": [{"type": name} for name in UNUSED_EVENTS]}
    async with http.put(f"{ari}/applications/{APP}/eventFilter", json=unused) as reply:
        reply.raise_for_status()


async def _serve_prompts(folder: Path, port: int) -> None:
    """Serve the prompts as an engine does: Asterisk fetches each once, and caches it.

    Asterisk takes the kind of file from its address only if that has a folder.
    """
    headers = {
        "Content-Type": "audio/wav",
        "Cache-Control": "public, max-age=31536000, immutable",
    }

    async def prompt(request: web.Request) -> web.StreamResponse:
        return web.FileResponse(folder / request.match_info["name"], headers=headers)

    app = web.Application()
    app.router.add_get("/media/{name:(first|second).wav}", prompt)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()


if __name__ == "__main__":
    asyncio.run(main())
