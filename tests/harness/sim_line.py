"""SimLine: one engine life's way to a SimAsterisk; requests with their latency, events in order."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, Protocol

from engine.ari.generated.events import ChannelDtmfReceived, ChannelTransfer
from engine.ari.generated.events import Event as AriEvent
from engine.ari.request import LOST, Done, Reply, Request
from tests.harness.sim_asterisk import SimAsterisk
from tests.harness.sim_clock import SimClock
from tests.harness.sim_loop import SimLoop

SLOW_MS = 10_000  # after that the client gives a request up (ari.pbx.Patience.slow_s)


class SimWeather(Protocol):
    """What the network does; each moment named may be an engine's last."""

    def loses(self) -> float:
        """Tell after how many ms a request's lost answer is noticed; 0: it is not lost."""

    def delay_ms(self) -> float:
        """Tell how late an event is, beyond the usual."""

    def doubles(self) -> bool:
        """Tell whether an event comes twice."""

    def passes(self, boundary: str) -> bool:
        """Pass a boundary; False when the engine dies there."""


class SimLine:
    """Implements `engine.runtime.ports.Pbx`; what its dead engine sends goes nowhere."""

    def __init__(
        self,
        clock: SimClock,
        pbx: SimAsterisk,
        loop: SimLoop,
        weather: SimWeather,
        rng: random.Random,
    ) -> None:
        self.is_alive = True
        self.digits: list[tuple[str, str, int]] = []  # heard: channel, digit, when
        self.is_up = True  # whether the PBX can be reached
        self.trace: Callable[[str], None] | None = None
        self.hear: Callable[[AriEvent], None] = lambda _event: None
        self.clock = clock
        self.pbx = pbx
        self.loop = loop
        self._weather = weather
        self._random = rng.random
        self._lane_ms = 0.0  # when the websocket's last request arrives
        self._cut_ms = -1.0  # when a websocket lost a request, and so all that followed it
        self._events_ms = 0.0  # when the websocket's last event arrives

    def send(self, request: Request, key: str, may_block: bool, done: Done) -> None:
        """Send a request on its way."""
        del key
        if not self.is_alive or not self._weather.passes("request"):
            return
        if self.trace:
            self.trace(f"-> {request.method} {request.uri}")
        sent = _Sent(self, request, done, self._weather.loses())
        arrives_ms = self.clock.at_ms + self.way_ms()
        if not may_block:  # a lane keeps its order
            arrives_ms = self._lane_ms = max(self._lane_ms, arrives_ms)
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

    def told(self, event: AriEvent) -> None:
        """Take an event from the PBX, to be heard after those before it."""
        if not self.is_alive or not self.pbx.is_listened_to:
            return
        at_ms = self.clock.at_ms + 0.2 + 0.6 * self._random() + self._weather.delay_ms()
        at_ms = self._events_ms = max(self._events_ms, at_ms)
        self.clock.at(at_ms, self._heard, self.loop, event)
        # A key pressed twice and a key told twice look the same; Asterisk tells it once.
        if not isinstance(event, ChannelDtmfReceived) and self._weather.doubles():
            self.clock.at(at_ms, self._heard, self.loop, event)

    def way_ms(self) -> float:
        """Give the time that a message takes."""
        return 0.3 + 0.5 * self._random()

    def replied(self, request: Request, reply: Reply, done: Done) -> None:
        """Take the answer to a request."""
        if self._weather.passes("reply"):
            if self.trace and not reply.ok:
                self.trace(f"<- {reply.status} {reply.body.decode()} to {request.path}")
            done(reply)

    def _heard(self, event: AriEvent) -> None:
        if self.pbx.is_listened_to and self._weather.passes("event"):
            if isinstance(event, ChannelDtmfReceived):
                self.digits.append((event.channel.id, event.digit, self.clock.now_ms()))
            if self.trace:
                self.trace(f"   {_words(event)}")
            self.hear(event)


class _Sent:
    """A request on its way to the PBX; it is answered once."""

    __slots__ = ("done", "is_answered", "line", "noticed_ms", "request")

    def __init__(self, line: SimLine, request: Request, done: Done, noticed_ms: float) -> None:
        self.line = line
        self.request = request
        self.done = done
        self.noticed_ms = noticed_ms  # how long until it is known that the answer was lost, or 0
        self.is_answered = False

    def arrive(self) -> None:
        """Be done by the PBX, which may take its time."""
        line = self.line
        if not line.is_up:
            self.answer(LOST)
            return
        line.pbx.handle(self.request, self.answer)
        if not self.is_answered:
            line.clock.after(SLOW_MS, self.answer, line.loop, LOST)

    def answer(self, reply: Reply) -> None:
        """Send the answer back."""
        line = self.line
        if self.is_answered:
            return
        self.is_answered = True
        reply = LOST if self.noticed_ms else reply
        delay_ms = self.noticed_ms or line.way_ms()
        if line.is_alive:
            line.clock.after(delay_ms, line.replied, line.loop, self.request, reply, self.done)


def _words(event: Any) -> str:
    if isinstance(event, ChannelTransfer):
        return f"ChannelTransfer {event.referred_by.source_channel.id} {event.state}"
    if recording := getattr(event, "recording", None):
        return f"{type(event).__name__} {recording.name}"
    about = getattr(event, "channel", None) or event.playback
    more = " ".join(str(getattr(event, k)) for k in ("digit", "cause") if hasattr(event, k))
    return f"{type(event).__name__} {about.id} {about.state} {more}".rstrip()
