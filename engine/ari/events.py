"""The events of one Stasis app, in order, while this engine may own the app."""

from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog
from aiohttp import ServerTimeoutError, WSMsgType

from engine.ari.config import UNUSED_EVENTS, PbxConnection
from engine.ari.decode import UnknownEvent, decode_event
from engine.ari.generated.events import ApplicationReplaced, Message
from engine.ari.generated.operations import applications
from engine.ari.reconnecting_websocket import (
    ReconnectingWebsocket,
    Stopped,
    Websocket,
    always_allowed,
    close_reason,
)
from engine.ari.request import Transport, ask
from engine.ari.subscription_probe import SubscriptionProbe


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
