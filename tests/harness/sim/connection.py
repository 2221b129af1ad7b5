"""SimConnection: one engine's connection to a SimAsterisk: requests with latency, and events."""

import asyncio
import random

from engine.ari.request import LOST, OnReply, Reply, Request
from tests.harness.sim.asterisk import SimAsterisk
from tests.harness.sim.clock import SimClock
from tests.harness.sim.events import SimEvents, SimFaults
from tests.harness.sim.loop import SimLoop

SLOW_MS = 10_000.0  # request timeout, as engine.ari has it


class SimConnection(SimEvents):
    """Implements `engine.runtime.base.interfaces.Pbx`; drops the requests of a dead engine."""

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
        self.keeps_order = True  # False: requests go over HTTP, and may overtake each other
        self.is_up = True  # whether the PBX can be reached
        self.is_dead = False  # dead network: requests time out instead of failing
        self.pbx = pbx
        self._last_arrival_ms = 0.0  # arrival time of the last websocket request
        self._cut_ms = -1.0  # when the websocket lost a request, and thus all after it

    @property
    def is_open(self) -> bool:
        """Return whether this engine has the app's websocket."""
        return self.is_alive and self.pbx.is_listened_to

    def send(self, request: Request, key: str, may_block: bool, done: OnReply) -> None:
        """Send a request."""
        del key
        if not self.is_alive or not self.faults.passes("request"):
            return
        if self.trace:
            self.trace(f"-> {request.method} {request.uri}")
        noticed_ms = SLOW_MS if self.is_dead else self.faults.loses()
        sent = _Sent(self, request, done, noticed_ms)
        arrives_ms = self.clock.at_ms + self.way_ms()
        is_ordered = self.keeps_order and not may_block
        if is_ordered:
            arrives_ms = self._last_arrival_ms = max(self._last_arrival_ms, arrives_ms)
        is_cut = is_ordered and self._cut_ms == self.clock.at_ms
        if not self.is_up or is_cut or (sent.noticed_ms and self._random() < 0.5):
            if is_ordered:
                self._cut_ms = self.clock.at_ms
            sent.answer(LOST)  # the request was lost, not the reply
        else:
            self.clock.at(arrives_ms, sent.arrive, self.pbx)

    async def ask(self, request: Request) -> Reply:
        """Send a request and return its reply."""
        replied: asyncio.Future[Reply] = self.loop.create_future()

        def answer(reply: Reply) -> None:
            if not replied.done():  # the caller may be cancelled by now
                replied.set_result(reply)

        self.send(request, "", True, answer)
        return await replied

    def way_ms(self) -> float:
        """Return a random one-way latency."""
        return 0.3 + 0.5 * self._random()

    def replied(self, request: Request, reply: Reply, done: OnReply) -> None:
        """Deliver the reply to a request."""
        if self.faults.passes("reply"):
            if self.trace and not reply.ok:
                self.trace(f"<- {reply.status} {reply.body.decode()} to {request.path}")
            done(reply)


class _Sent:
    """A request in flight to the PBX; it is answered once."""

    __slots__ = ("connection", "done", "is_answered", "noticed_ms", "request")

    def __init__(
        self, connection: SimConnection, request: Request, done: OnReply, noticed_ms: float
    ) -> None:
        self.connection = connection
        self.request = request
        self.done = done
        self.noticed_ms = noticed_ms  # delay until the lost reply is noticed; 0: not lost
        self.is_answered = False

    def arrive(self) -> None:
        """Reach the PBX, which may defer its reply."""
        connection = self.connection
        if not connection.is_up:
            self.answer(LOST)
            return
        connection.pbx.handle(self.request, self.answer)
        if not self.is_answered:
            connection.clock.after(SLOW_MS, self.answer, connection.loop, LOST)

    def answer(self, reply: Reply) -> None:
        """Send the reply back."""
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
