"""SimLine: one engine life's way to a SimAsterisk: requests with their latency, and events."""

import asyncio
import random

from engine.ari.request import LOST, OnReply, Reply, Request
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.harness.sim.events import SimEvents, SimFaults
from tests.harness.sim.loop import SimLoop

SLOW_MS = 10_000.0  # after that the client gives a request up (ari.pbx.Patience.slow_s)


class SimConnection(SimEvents):
    """Implements `engine.runtime.base.ports.Pbx`; what its dead engine sends goes nowhere."""

    def __init__(
        self,
        clock: SimClock,
        pbx: SimAsterisk,
        loop: SimLoop,
        faults: SimFaults,
        rng: random.Random,
    ) -> None:
        super().__init__(clock, loop, faults, rng)
        self.is_alive = True
        self.is_up = True  # whether the PBX can be reached
        self.is_dead = False  # whether nothing says so when it can't: a dead network
        self.pbx = pbx
        self._last_arrival_ms = 0.0  # when the websocket's last request arrives
        self._cut_ms = -1.0  # when a websocket lost a request, and so all that followed it

    @property
    def is_open(self) -> bool:
        """Whether this life has the app's websocket."""
        return self.is_alive and self.pbx.is_listened_to

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request on its way."""
        del key
        if not self.is_alive or not self.faults.passes("request"):
            return
        if self.trace:
            self.trace(f"-> {request.method} {request.uri}")
        noticed_ms = SLOW_MS if self.is_dead else self.faults.loses()
        sent = _Sent(self, request, done, noticed_ms)
        arrives_ms = self.clock.at_ms + self.way_ms()
        if not may_block:  # a lane keeps its order
            arrives_ms = self._last_arrival_ms = max(self._last_arrival_ms, arrives_ms)
        is_cut = not may_block and self._cut_ms == self.clock.at_ms
        if not self.is_up or is_cut or (sent.noticed_ms and self._random() < 0.5):
            if not may_block:
                self._cut_ms = self.clock.at_ms
            sent.answer(LOST)  # lost on its way there, not on its way back
        else:
            self.clock.at(arrives_ms, sent.arrive, self.pbx)

    async def ask(self, request: Request) -> Reply:
        """Send, and wait for the answer."""
        replied: asyncio.Future[Reply] = self.loop.create_future()

        def answer(reply: Reply) -> None:
            if not replied.done():  # whoever asked may have been cancelled since
                replied.set_result(reply)

        self.send(request, "", True, answer)
        return await replied

    def way_ms(self) -> float:
        """Give the time that a message takes."""
        return 0.3 + 0.5 * self._random()

    def replied(self, request: Request, reply: Reply, done: OnReply) -> None:
        """Take the answer to a request."""
        if self.faults.passes("reply"):
            if self.trace and not reply.ok:
                self.trace(f"<- {reply.status} {reply.body.decode()} to {request.path}")
            done(reply)


class _Sent:
    """A request on its way to the PBX; it is answered once."""

    __slots__ = ("connection", "done", "is_answered", "noticed_ms", "request")

    def __init__(
        self, connection: SimConnection, request: Request, done: OnReply, noticed_ms: float
    ) -> None:
        self.connection = connection
        self.request = request
        self.done = done
        self.noticed_ms = noticed_ms  # how long until it is known that the answer was lost, or 0
        self.is_answered = False

    def arrive(self) -> None:
        """Be done by the PBX, which may take its time."""
        connection = self.connection
        if not connection.is_up:
            self.answer(LOST)
            return
        connection.pbx.handle(self.request, self.answer)
        if not self.is_answered:
            connection.clock.after(SLOW_MS, self.answer, connection.loop, LOST)

    def answer(self, reply: Reply) -> None:
        """Send the answer back."""
        connection = self.connection
        if self.is_answered:
            return
        self.is_answered = True
        reply = LOST if self.noticed_ms else reply
        delay_ms = self.noticed_ms or connection.way_ms()
        if connection.is_alive:
            connection.clock.after(
                delay_ms, connection.replied, connection.loop, self.request, reply, self.done
            )
