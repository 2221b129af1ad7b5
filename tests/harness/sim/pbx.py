"""SimPbx: a PBX shared by several engines; the newest websocket of an app replaces the others."""

import random
from collections.abc import Callable

from engine.ari.generated.events import ApplicationReplaced
from engine.ari.generated.events import Event as AriEvent
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.harness.sim.model import SimChannel
from tests.harness.sim.phone import SimPhones
from tests.harness.sim.socket import SimSocket


class SimPbx(SimAsterisk):
    """One of a world's nodes."""

    def __init__(
        self,
        name: str,
        clock: SimClock,
        phones: SimPhones,
        length_ms: Callable[[str], int | None],
        rng: random.Random,
    ) -> None:
        super().__init__(clock, phones, self._deliver, length_ms)
        self.name = name
        self.phones = phones
        self.is_up = True
        self.sockets: dict[str, SimSocket] = {}  # by app
        self._rng = rng

    def is_heard(self, app: str) -> bool:
        """Return whether an app has a websocket."""
        return app in self.sockets

    def opened(self, socket: SimSocket) -> None:
        """Assign an app to a new websocket and replace the old one."""
        before = self.sockets.get(socket.app)
        self.sockets[socket.app] = socket
        if before is not None:
            self.replaces(before)

    def replaces(self, socket: SimSocket) -> None:
        """Send ApplicationReplaced to a websocket and close it."""
        socket.deliver(ApplicationReplaced(application=socket.app, timestamp=""))
        socket.shut()

    def closed(self, socket: SimSocket) -> None:
        """Remove a closed websocket."""
        socket.shut()
        if self.sockets.get(socket.app) is socket:
            del self.sockets[socket.app]

    def rings_in(self, channel_id: str, number: str, apps: list[str]) -> SimChannel | None:
        """Add an inbound call: to a random app, else to the first with a websocket."""
        if not self.is_up:
            return None
        chosen = self._rng.choice(apps)
        heard = [each for each in (chosen, *apps) if self.is_heard(each)]
        return self.arrives(channel_id, "+4799", number, heard[0] if heard else chosen)

    def crash(self) -> None:
        """Lose everything and be unreachable."""
        self.is_up = False
        for socket in list(self.sockets.values()):
            self.closed(socket)
            socket.ended("closed")
        self.restart()

    def _deliver(self, event: AriEvent) -> None:
        if socket := self.sockets.get(event.application):
            socket.deliver(event)
