"""The events of one Stasis app, in order, while this engine may own the app."""

import asyncio
import secrets
from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Protocol, TypeVar

import aiohttp
import msgspec
import structlog
from aiohttp import ClientSession, ClientTimeout, ServerTimeoutError, WSMsgType
from msgspec import Struct

from engine.ari.config import UNUSED_EVENTS, PbxConnection, Timeouts
from engine.ari.generated.events import ApplicationReplaced, ChannelUserevent, Message
from engine.ari.generated.operations import applications, asterisk, events
from engine.ari.reconnecting_websocket import (
    ReconnectingWebsocket,
    Stopped,
    Websocket,
    always_allowed,
    close_reason,
)
from engine.ari.request import Reply, Transport, ask

Model = TypeVar("Model")


class UnknownEvent(Struct, frozen=True):
    """An event of a newer Asterisk that this client has no type for."""

    type: str
    raw: bytes


class _EventType(Struct, frozen=True):
    type: str


_message: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
_event_type: msgspec.json.Decoder[_EventType] = msgspec.json.Decoder(_EventType)
_KNOWN = frozenset(shape.__struct_config__.tag for shape in Message.__args__)


def decode_event(data: bytes) -> Message | UnknownEvent:
    """Decode one message of the event websocket; raises msgspec.DecodeError."""
    try:
        return _message.decode(data)
    except msgspec.ValidationError:
        kind = _event_type.decode(data).type
        if kind in _KNOWN:
            raise
        return UnknownEvent(kind, data)


def decode(reply: Reply, kind: type[Model]) -> Model:
    """Decode a reply's body as the model of its operation; raises msgspec.DecodeError."""
    return msgspec.json.decode(reply.body, type=kind)


def timestamp_ms(timestamp: str) -> int:
    """Convert an event's timestamp to milliseconds since the epoch."""
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)


class EventListener(Protocol):
    """Receives events; methods must not block: Asterisk drops a client slower than 100 ms.

    An exception of a method ends `EventSocket.run`.
    """

    def on_connected(self) -> None:
        """Handle that events flow from now on; the state before must be queried."""

    def on_event(self, event: Message | UnknownEvent) -> None:
        """Handle one event; events arrive in the order in which Asterisk sent them."""

    def on_disconnected(self, reason: str, silent_ms: int) -> None:
        """Handle that events stopped `silent_ms` ago, or cannot start; called once per outage."""

    def on_replaced(self) -> None:
        """Handle that another websocket has taken the app and `run` has ended."""


class EventSocket:
    """The websocket of one app; `transport` sends the request that sets the event filter.

    Of two websockets of an app the newer one receives its events: an engine that may have lost the
    app to another must not reconnect, so `is_allowed` is checked before each attempt.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        pbx: PbxConnection,
        app: str,
        listener: EventListener,
        transport: Transport,
        unused_events: tuple[str, ...] = UNUSED_EVENTS,
        is_allowed: Callable[[], bool] = always_allowed,
    ) -> None:
        self._connection = ReconnectingWebsocket(pbx, app, pbx.timeouts.heartbeat_s, is_allowed)
        self._app = app
        self._listener = listener
        self._transport = transport
        self._probe = SubscriptionProbe(app, transport, pbx.timeouts)
        self._unused_events = unused_events
        self._is_away = False
        self._silent_ms = 0  # for how long nothing had come when the websocket was given up
        self._log = structlog.get_logger().bind(node=pbx.address.name, app=app)

    async def run(self) -> None:
        """Receive until cancelled, always reconnecting; returns only when the app was taken."""
        await self._connection.run(self._serve, self._on_lost)

    async def _serve(self, websocket: Websocket) -> str:
        # Asterisk knows the app only once its websocket is open, so the filter comes second.
        await self._set_filter()
        buffered = await self._probe.buffered(websocket)
        self._is_away = False
        self._listener.on_connected()
        for data in buffered:
            self._dispatch(data)
        while True:
            message = await websocket.receive()
            if message.type is not WSMsgType.TEXT:
                if isinstance(websocket.exception(), ServerTimeoutError):
                    self._silent_ms = self._connection.dead_after_ms
                return close_reason(websocket)
            self._dispatch(message.data)

    async def _set_filter(self) -> None:
        # A list of allowed types would also stop the replies of REST over the websocket.
        disallowed = [{"type": name} for name in self._unused_events]
        request = applications.filter_(self._app, filter={"disallowed": disallowed})
        reply = await ask(self._transport, request)
        if not reply.ok:
            self._log.warning("ari event filter not set", status=reply.status)

    def _dispatch(self, data: bytes) -> None:
        try:
            event = decode_event(data)
        except msgspec.DecodeError as error:
            self._log.error("ari event skipped", reason=str(error), size=len(data))
            return
        if type(event) is ApplicationReplaced:
            self._listener.on_replaced()
            raise Stopped
        self._listener.on_event(event)

    def _on_lost(self, reason: str) -> None:
        if not self._is_away:
            self._is_away = True
            self._listener.on_disconnected(reason, self._silent_ms)
        self._silent_ms = 0


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
