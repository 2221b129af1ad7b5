"""Probes: whether a websocket receives its app's events, and whether a PBX responds.

When a new websocket opens while the app's last one closes, Asterisk 22 may keep the new one open
without subscribing it to the app (`app_update` in res/stasis/app.c returns early): it would never
receive an event. So an event is requested and awaited.
"""

import asyncio
import secrets
from collections.abc import Callable
from http import HTTPStatus

import aiohttp
import msgspec
from aiohttp import ClientSession, ClientTimeout, WSMsgType
from msgspec import Struct

from engine.ari.config import PbxConnection, Timeouts
from engine.ari.decode import decode_event
from engine.ari.generated.events import ApplicationReplaced, ChannelUserevent
from engine.ari.generated.operations import asterisk, events
from engine.ari.reconnecting_websocket import Websocket, close_reason
from engine.ari.request import Transport, ask


class SubscriptionProbe:
    """Probes one app's websockets; each attempt after a failure gets more time."""

    def __init__(self, app: str, transport: Transport, timeouts: Timeouts) -> None:
        self._app = app
        self._transport = transport
        self._timeouts = timeouts
        self._timeout_s = timeouts.probe_s

    async def buffered(self, websocket: Websocket) -> list[bytes]:
        """Return the messages received before the probe's event; raises TimeoutError, OSError.

        The list also ends, with ApplicationReplaced, when another websocket takes the app.
        """
        name = f"probe-{secrets.token_hex(4)}"
        await ask(self._transport, events.user_event(name, application=self._app))
        try:
            async with asyncio.timeout(self._timeout_s):
                buffered = await _receive_until(name, websocket)
        except TimeoutError:
            self._timeout_s = min(2 * self._timeout_s, self._timeouts.connect_s)
            raise TimeoutError("websocket open, but no events arrive") from None
        self._timeout_s = self._timeouts.probe_s
        return buffered


async def _receive_until(name: str, websocket: Websocket) -> list[bytes]:
    buffered: list[bytes] = []
    while True:
        message = await websocket.receive()
        if message.type is not WSMsgType.TEXT:
            raise ConnectionError(close_reason(websocket))
        match _decoded(message.data):
            case ChannelUserevent(eventname=found) if found == name:
                return buffered
            case ApplicationReplaced():
                return [*buffered, message.data]
            case _:
                pass
        buffered.append(message.data)


def _decoded(data: bytes) -> object:
    try:
        return decode_event(data)
    except msgspec.DecodeError:
        return None  # logged when it is dispatched


class HealthProbe(Struct, frozen=True):
    """Calls `on_result` after each probe with whether the PBX responded in time.

    A PBX that is probed rarely, as no call depends on it, is probed more often until it responds.
    """

    pbx: PbxConnection
    on_result: Callable[[bool], None]
    is_rare: bool = False

    async def run(self) -> None:
        timeouts, headers = self.pbx.timeouts, self.pbx.address.headers
        timeout = ClientTimeout(total=timeouts.health_timeout_s)
        connector = aiohttp.TCPConnector(ssl=self.pbx.address.tls or True)
        async with ClientSession(headers=headers, timeout=timeout, connector=connector) as http:
            while True:
                began_s = self.pbx.clock()
                is_responding = await self._is_responding(http)
                self.on_result(is_responding)
                is_rare = self.is_rare and is_responding
                next_s = began_s + (
                    timeouts.rare_health_interval_s if is_rare else timeouts.health_interval_s
                )
                await asyncio.sleep(next_s - self.pbx.clock())

    async def _is_responding(self, http: ClientSession) -> bool:
        try:
            async with http.get(self.pbx.url_for(asterisk.ping().uri)) as response:
                return response.status == HTTPStatus.OK
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False
