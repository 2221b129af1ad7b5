"""Proof that an app's events come to its websocket: one is asked for, and waited for.

When a new websocket comes while the app's last one closes, Asterisk 22 may keep the new one open
without giving it the app (`app_update` in res/stasis/app.c returns early): it would hear nothing,
for ever.
"""

import asyncio
import secrets
from collections.abc import Callable
from http import HTTPStatus

import aiohttp
import msgspec
from aiohttp import ClientSession, ClientTimeout, WSMsgType

from engine.ari.config import PbxConnection, Timeouts
from engine.ari.decode import decode_event
from engine.ari.generated.events import ApplicationReplaced, ChannelUserevent
from engine.ari.generated.operations import asterisk, events
from engine.ari.reconnecting_websocket import Websocket, close_reason
from engine.ari.request import Transport, ask


class SubscriptionProbe:
    """Proves one app's websockets; each one that proves deaf is given longer than the last."""

    def __init__(self, app: str, rest: Transport, patience: Timeouts) -> None:
        self._app = app
        self._rest = rest
        self._timeouts = patience
        self._within_s = patience.probe_s

    async def buffered(self, websocket: Websocket) -> list[bytes]:
        """Return the messages that came before the proof; raises TimeoutError, OSError without it.

        The list also ends, with ApplicationReplaced, when another websocket takes the app.
        """
        name = f"heard-{secrets.token_hex(4)}"
        await ask(self._rest, events.user_event(name, application=self._app))
        try:
            async with asyncio.timeout(self._within_s):
                early = await _receive_until(name, websocket)
        except TimeoutError:
            self._within_s = min(2 * self._within_s, self._timeouts.connect_s)
            raise TimeoutError("it is open, and its events do not come") from None
        self._within_s = self._timeouts.probe_s
        return early


async def _receive_until(name: str, websocket: Websocket) -> list[bytes]:
    early: list[bytes] = []
    while True:
        message = await websocket.receive()
        if message.type is not WSMsgType.TEXT:
            raise ConnectionError(close_reason(websocket))
        match _decoded(message.data):
            case ChannelUserevent(eventname=found) if found == name:
                return early
            case ApplicationReplaced():
                return [*early, message.data]
        early.append(message.data)


def _decoded(data: bytes) -> object:
    try:
        return decode_event(data)
    except msgspec.DecodeError:
        return None  # whoever takes it says so


class HealthProbe:
    """Tells `note` after each question whether it was answered in time."""

    def __init__(self, pbx: PbxConnection, note: Callable[[bool], None]) -> None:
        self._pbx = pbx
        self._note = note

    async def run(self) -> None:
        """Ask until cancelled."""
        patience, headers = self._pbx.timeouts, self._pbx.address.headers
        timeout = ClientTimeout(total=patience.health_timeout_s)
        async with ClientSession(headers=headers, timeout=timeout) as http:
            while True:
                next_s = self._pbx.clock() + patience.health_interval_s
                self._note(await self._is_answered(http))
                await asyncio.sleep(next_s - self._pbx.clock())

    async def _is_answered(self, http: ClientSession) -> bool:
        try:
            async with http.get(self._pbx.url_for(asterisk.ping().uri)) as answer:
                return answer.status == HTTPStatus.OK
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False
