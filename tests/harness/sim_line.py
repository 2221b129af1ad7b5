"""SimLine: one engine life's way to a SimAsterisk; requests with their latency, events in order."""

import random
from collections.abc import Callable
from typing import Any, Protocol

from engine.ari.generated.events import ChannelDtmfReceived
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
        self._clock = clock
        self._pbx = pbx
        self._loop = loop
        self._weather = weather
        self._random = rng.random
        self._lane_ms = 0.0  # when the websocket's last request arrives
        self._events_ms = 0.0  # when the websocket's last event arrives

    def send(self, request: Request, key: str, may_block: bool, done: Done) -> None:
        """Send a request on its way."""
        del key
        if not self.is_alive or not self._weather.passes("request"):
            return
        if self.trace:
            self.trace(f"-> {request.method} {request.uri}")
        noticed_ms = self._weather.loses()
        arrives_ms = self._clock.at_ms + 0.3 + 0.5 * self._random()
        if not may_block:  # a lane keeps its order
            arrives_ms = self._lane_ms = max(self._lane_ms, arrives_ms)
        answer = self._answer(done, noticed_ms, request)
        if not self.is_up or (noticed_ms and self._random() < 0.5):  # noqa: PLR2004
            answer(LOST)  # lost on its way there, not on its way back
        else:
            self._clock.at(arrives_ms, lambda: self._arrive(request, answer), self._pbx)

    async def ask(self, request: Request) -> Reply:
        """Send, and wait for the answer."""
        reply = self._loop.create_future()
        self.send(request, "", True, reply.set_result)
        answer: Reply = await reply
        return answer

    def told(self, event: AriEvent) -> None:
        """Take an event from the PBX, to be heard after those before it."""
        if not self.is_alive or not self._pbx.is_listened_to:
            return
        at_ms = self._clock.at_ms + 0.2 + 0.6 * self._random() + self._weather.delay_ms()
        at_ms = self._events_ms = max(self._events_ms, at_ms)
        self._clock.at(at_ms, lambda: self._heard(event), self._loop)
        # A key pressed twice and a key told twice look the same; Asterisk tells it once.
        if not isinstance(event, ChannelDtmfReceived) and self._weather.doubles():
            self._clock.at(at_ms, lambda: self._heard(event), self._loop)

    def _arrive(self, request: Request, answer: Done) -> None:
        if not self.is_up:
            answer(LOST)
            return
        waited = _Once(answer)
        self._pbx.handle(request, waited)
        if waited.answer is not None:
            self._clock.after(SLOW_MS, lambda: waited(LOST), self._loop)

    def _answer(self, done: Done, noticed_ms: float, request: Request) -> Done:
        def answer(reply: Reply) -> None:
            delay_ms = noticed_ms or 0.3 + 0.5 * self._random()
            reply = LOST if noticed_ms else reply
            if self.is_alive:
                self._clock.after(delay_ms, lambda: self._replied(request, reply, done), self._loop)

        return answer

    def _replied(self, request: Request, reply: Reply, done: Done) -> None:
        if self._weather.passes("reply"):
            if self.trace and not reply.ok:
                self.trace(f"<- {reply.status} {reply.body.decode()} to {request.path}")
            done(reply)

    def _heard(self, event: AriEvent) -> None:
        if self._pbx.is_listened_to and self._weather.passes("event"):
            if isinstance(event, ChannelDtmfReceived):
                self.digits.append((event.channel.id, event.digit, self._clock.now_ms()))
            if self.trace:
                self.trace(f"   {_words(event)}")
            self.hear(event)


class _Once:
    def __init__(self, answer: Done) -> None:
        self.answer: Done | None = answer

    def __call__(self, reply: Reply) -> None:
        answer, self.answer = self.answer, None
        if answer is not None:
            answer(reply)


def _words(event: Any) -> str:
    about = getattr(event, "channel", None) or event.playback
    more = " ".join(str(getattr(event, k)) for k in ("digit", "cause") if hasattr(event, k))
    return f"{type(event).__name__} {about.id} {about.state} {more}".rstrip()
