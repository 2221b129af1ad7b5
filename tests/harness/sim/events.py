"""SimEvents: a PBX's events on their way to one engine: in order, now and then late or twice."""

import random
from collections.abc import Callable
from typing import Any, Protocol

from engine.ari.generated.events import ChannelDtmfReceived, ChannelTransfer
from engine.ari.generated.events import Event as AriEvent
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop


class SimFaults(Protocol):
    """What the network does; each moment named may be an engine's last."""

    def loses(self) -> float:
        """Tell after how many ms a request's lost answer is noticed; 0: it is not lost."""

    def delay_ms(self) -> float:
        """Tell how late an event is, beyond the usual."""

    def doubles(self) -> bool:
        """Tell whether an event comes twice."""

    def passes(self, boundary: str) -> bool:
        """Pass a boundary; False when the engine dies there."""


class SimEvents:
    """What an engine hears of a PBX; `is_open` is whether the PBX tells it anything."""

    def __init__(
        self, clock: SimClock, loop: SimLoop, faults: SimFaults, rng: random.Random
    ) -> None:
        self.digits: list[tuple[str, str, int]] = []  # heard: channel, digit, when
        self.trace: Callable[[str], None] | None = None
        self.on_event: Callable[[AriEvent], None] = lambda _event: None
        self.clock = clock
        self.loop = loop
        self.faults = faults
        self.rng = rng
        self._random = rng.random
        self._events_ms = 0.0  # when the last event arrives

    @property
    def is_open(self) -> bool:
        """Whether events come through."""
        raise NotImplementedError

    def deliver(self, event: AriEvent) -> None:
        """Take an event from the PBX, to be heard after those before it."""
        if not self.is_open:
            return
        at_ms = self.clock.at_ms + 0.2 + 0.6 * self._random() + self.faults.delay_ms()
        at_ms = self._events_ms = max(self._events_ms, at_ms)
        self.clock.at(at_ms, self._heard, self.loop, event)
        # A key pressed twice and a key told twice look the same; Asterisk tells it once.
        if not isinstance(event, ChannelDtmfReceived) and self.faults.doubles():
            self.clock.at(at_ms, self._heard, self.loop, event)

    def _heard(self, event: AriEvent) -> None:
        if self.is_open and self.faults.passes("event"):
            if isinstance(event, ChannelDtmfReceived):
                self.digits.append((event.channel.id, event.digit, self.clock.now_ms()))
            if self.trace:
                self.trace(f"   {_describe(event)}")
            self.on_event(event)


def _describe(event: Any) -> str:
    if isinstance(event, ChannelTransfer):
        return f"ChannelTransfer {event.referred_by.source_channel.id} {event.state}"
    if recording := getattr(event, "recording", None):
        return f"{type(event).__name__} {recording.name}"
    about = getattr(event, "channel", None) or getattr(event, "playback", None)
    if about is None:
        return f"{type(event).__name__} {event.application}"
    more = " ".join(str(getattr(event, k)) for k in ("digit", "cause") if hasattr(event, k))
    return f"{type(event).__name__} {about.id} {about.state} {more}".rstrip()
