"""SimSocket: the websocket of one app, from a PBX to the engine that opened it."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from engine.ari.backoff import Backoff
from engine.ari.generated.events import ApplicationReplaced
from engine.ari.generated.events import Event as AriEvent
from tests.harness.sim.connection import SimConnection
from tests.harness.sim.events import SimEvents

if TYPE_CHECKING:
    from tests.harness.sim.pbx import SimPbx

AWAY_MS = 5.0
HANDSHAKE_MS = 5_000.0  # after that it is given up (ari.pbx.Patience.connect_s)
RETRY_MS = 100.0


class Listener(Protocol):
    """Who hears; `runtime.hearing.Hearing` is the real one."""

    def on_connected(self) -> None:
        """Hear that the events flow from here on."""

    def on_event(self, event: AriEvent) -> None:
        """Take one."""

    def on_disconnected(self, reason: str) -> None:
        """Hear that they stopped."""

    def on_replaced(self) -> None:
        """Hear that the app is another's."""


class SimSocket(SimEvents):
    """One connection; what the network holds up comes later, what it loses never."""

    def __init__(self, connection: SimConnection, app: str) -> None:
        super().__init__(connection.clock, connection.loop, connection.faults, connection.rng)
        self.trace, self.digits = connection.trace, connection.digits
        self.app = app
        self.connection = connection
        self.over: asyncio.Future[str] = connection.loop.create_future()
        self._is_open = True
        self._is_shut = False  # at the PBX: it tells no more
        self._buffered: list[AriEvent] = []
        self.on_event = self._buffered.append
        self._held: list[AriEvent] = []

    @property
    def is_open(self) -> bool:
        """Whether the engine has it."""
        return self._is_open

    def deliver(self, event: AriEvent) -> None:
        """Take an event, which stays in the network while that is dead."""
        if self._is_shut:
            return
        if self.connection.is_dead:
            self._held.append(event)
        else:
            super().deliver(event)

    def mended(self) -> None:
        """Bring what the network has kept."""
        held, self._held = self._held, []
        for event in held:
            super().deliver(event)

    def shut(self) -> None:
        """Tell no more; what was told arrives."""
        self._is_shut = True

    def begin(self, take: Callable[[AriEvent], None]) -> None:
        """Bring what came before the engine was ready for it, and then what comes."""
        self.on_event = take
        for event in self._buffered:
            take(event)

    def left(self) -> None:
        """Be closed by the engine."""
        self._is_open = False

    def ended(self, reason: str) -> None:
        """End for the engine, which learns so as soon as it can."""
        self._is_open = False
        self.clock.after(self.connection.way_ms(), self._over, self.loop, reason)

    def _over(self, reason: str) -> None:
        if not self.over.done():
            self.over.set_result(reason)


class SimSession:
    """Keeps an app's websocket, like `ari.session.EventSocket`."""

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
        """Listen until cancelled, or until another has the app."""
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
            await sleep(4 * way_ms())  # the filter is set, and the events are known to come
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
            self._listener.on_disconnected(reason)
