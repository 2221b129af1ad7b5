"""SimSocket: one app's websocket, from a PBX to the engine that opened it."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from engine.ari.generated.events import ApplicationReplaced
from engine.ari.generated.events import Event as AriEvent
from engine.ari.reconnecting_websocket import Backoff
from tests.harness.sim.connection import SimConnection
from tests.harness.sim.events import SimEvents

if TYPE_CHECKING:
    from tests.harness.sim.pbx import SimPbx

AWAY_MS = 5.0
HANDSHAKE_MS = 5_000.0  # connect timeout, as engine.ari has it
RETRY_MS = 100.0


class Listener(Protocol):
    """The engine's listener; `engine.runtime.pbx_nodes.slots` is the real one."""

    def on_connected(self) -> None: ...

    def on_event(self, event: AriEvent) -> None: ...

    def on_disconnected(self, reason: str, silent_ms: int) -> None: ...

    def on_replaced(self) -> None: ...


class SimSocket(SimEvents):
    """One websocket; a dead network delays its events."""

    def __init__(self, connection: SimConnection, app: str) -> None:
        super().__init__(connection.clock, connection.loop, connection.faults, connection.rng)
        self.trace, self.digits = connection.trace, connection.digits
        self.app = app
        self.connection = connection
        self.over: asyncio.Future[str] = connection.loop.create_future()
        self._is_open = True
        self._is_shut = False  # closed on the PBX's side
        self._buffered: list[AriEvent] = []
        self.on_event = self._buffered.append
        self._held: list[AriEvent] = []

    @property
    def is_open(self) -> bool:
        """Return whether the engine has it open."""
        return self._is_open

    def deliver(self, event: AriEvent) -> None:
        """Deliver an event; a dead network holds it."""
        if self._is_shut:
            return
        if self.connection.is_dead:
            self._held.append(event)
        else:
            super().deliver(event)

    def mended(self) -> None:
        """Deliver the events that the dead network held."""
        held, self._held = self._held, []
        for event in held:
            super().deliver(event)

    def shut(self) -> None:
        """Send no further events; those already sent arrive."""
        self._is_shut = True

    def begin(self, take: Callable[[AriEvent], None]) -> None:
        """Deliver the events buffered until the engine was ready, then all that follow."""
        self.on_event = take
        for event in self._buffered:
            take(event)

    def left(self) -> None:
        """Close it on the engine's side."""
        self._is_open = False

    def ended(self, reason: str) -> None:
        """Close it; the engine notices after the network latency."""
        self._is_open = False
        self.clock.after(self.connection.way_ms(), self._over, self.loop, reason)

    def _over(self, reason: str) -> None:
        if not self.over.done():
            self.over.set_result(reason)


class SimSession:
    """Keeps an app's websocket open, like `engine.ari` does."""

    def __init__(
        self,
        connection: SimConnection,
        pbx: "SimPbx",
        app: str,
        listener: Listener,
        may: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._pbx = pbx
        self._app = app
        self._listener = listener
        self._may = may
        self._is_away = False
        self._backoff = Backoff(connection.rng.random)

    async def run(self) -> None:
        """Listen until cancelled, or until another engine has the app."""
        sleep = self._connection.loop.sleep
        while True:
            if not self._may():
                await sleep(RETRY_MS)
                continue
            if not self._connection.is_up or not self._pbx.is_up:
                await sleep(HANDSHAKE_MS if self._connection.is_dead else AWAY_MS)
                self._lost("refused")
            elif await self._listened() == "replaced":
                return
            await sleep(self._backoff.next_s() * 1000)

    async def _listened(self) -> str:
        sleep, way_ms = self._connection.loop.sleep, self._connection.way_ms
        await sleep(2 * way_ms())
        socket = SimSocket(self._connection, self._app)
        self._pbx.opened(socket)
        try:
            await sleep(4 * way_ms())  # set the event filter and probe the subscription
            self._is_away = False
            self._backoff.reset()
            self._listener.on_connected()
            socket.begin(lambda event: self._take(socket, event))
            reason = await socket.over
        finally:
            socket.left()
            self._pbx.closed(socket)
        if reason != "replaced":
            self._lost(reason)
        return reason

    def _take(self, socket: SimSocket, event: AriEvent) -> None:
        if isinstance(event, ApplicationReplaced):
            socket.ended("replaced")
            self._listener.on_replaced()
        else:
            self._listener.on_event(event)

    def _lost(self, reason: str) -> None:
        if not self._is_away:
            self._is_away = True
            self._listener.on_disconnected(reason, 0)
