"""Bots that echo, in a process of its own: behind a gateway, and at the PBX itself.

`python -m tools.bench.streams.echo_server PORT ARI_URL USER PASSWORD` serves Twilio's messages at
ws://127.0.0.1:PORT/, and echoes on the channels of callers that enter the app `direct`: there the
bot has the PBX's own websocket, which is the anchor of the bench.
"""

import itertools
import json
import sys
from typing import Any

import aiohttp
from aiohttp import web
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

APP = "direct"


class DirectEcho(WSListener):
    """Returns each frame of a PBX's websocket at once."""

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type is WSMsgType.BINARY:
            transport.send(WSMsgType.BINARY, frame.get_payload_as_bytes())


async def echo_twilio(request: web.Request) -> web.StreamResponse:
    """Return each message with audio as it is."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        if '"event":"media"' in message.data[:20]:
            await socket.send_str(message.data)
    return socket


class DirectCalls:
    """Bridges each caller with a websocket of the PBX, and echoes there."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url
        self._numbers = itertools.count()
        self._callers: dict[str, str] = {}  # by the channel of a websocket

    async def read_events(self) -> None:
        address = f"{self._url}/ari/events?app={APP}".replace("http", "ws", 1)
        async with self._http.ws_connect(address) as events:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            async for message in events:
                event = json.loads(message.data)
                channel = event.get("channel", {}).get("id", "")
                if event["type"] == "StasisStart":
                    await self._on_start(channel)
                elif event["type"] == "ChannelDestroyed" and channel.startswith(f"{APP}-"):
                    async with self._http.delete(f"{self._url}/ari/bridges/bridge-{channel}"):
                        pass

    async def _on_start(self, channel: str) -> None:
        if caller := self._callers.pop(channel, None):
            bridge = f"bridge-{channel}"
            await self._post(f"bridges/{bridge}?type=mixing")
            await self._post(f"bridges/{bridge}/addChannel?channel={caller},{channel}")
            return
        name = f"direct-{next(self._numbers)}"
        self._callers[name] = channel
        await self._post(f"channels/{channel}/answer")
        created = await self._post(
            f"channels/externalMedia?channelId={name}&app={APP}&external_host=INCOMING"
            "&transport=websocket&connection_type=server&encapsulation=none&format=ulaw"
            "&transport_data=f(json)"
        )
        socket = created["channelvars"]["MEDIA_WEBSOCKET_CONNECTION_ID"]
        address = f"{self._url}/media/{socket}".replace("http", "ws", 1)
        await ws_connect(DirectEcho, address, extra_headers={"Sec-WebSocket-Protocol": "media"})

    async def _post(self, path: str) -> dict[str, Any]:
        async with self._http.post(f"{self._url}/ari/{path}") as reply:
            body: dict[str, Any] = await reply.json() if reply.status == 200 else {}
            return body


async def main(port: int, url: str, user: str, password: str) -> None:
    app = web.Application()
    app.router.add_get("/{path:.*}", echo_twilio)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    login = aiohttp.encode_basic_auth(user, password)
    async with aiohttp.ClientSession(headers={"Authorization": login}) as http:
        await DirectCalls(http, url).read_events()


if __name__ == "__main__":
    import uvloop

    uvloop.run(main(int(sys.argv[1]), *sys.argv[2:5]))
