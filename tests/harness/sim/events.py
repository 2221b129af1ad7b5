"""SimEvents: events from a PBX to one engine: in order, sometimes late or duplicated."""

import random
from collections.abc import Callable
from typing import Any, Protocol

from engine.ari.generated.events import ChannelDtmfReceived, ChannelTransfer
from engine.ari.generated.events import Event as AriEvent
from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop


class SimFaults(Protocol):
    """Network faults; the engine may die at each boundary."""

    def loses(self) -> float:
        """Return the delay in ms after which a lost reply is noticed; 0: it is not lost."""

    def delay_ms(self) -> float:
        """Return the extra delay of an event."""

    def doubles(self) -> bool:
        """Return whether an event is duplicated."""

    def passes(self, boundary: str) -> bool:
        """Pass a boundary; return False when the engine dies there."""


class SimEvents:
    """An engine's event stream from a PBX; `is_open`: the PBX sends events."""

    def __init__(
        self, clock: SimClock, loop: SimLoop, faults: SimFaults, rng: random.Random
    ) -> None:
        # received: channel, digit, time of its key-up, and how long the key was down
        self.digits: list[tuple[str, str, int, int]] = []
        self.trace: Callable[[str], None] | None = None
        self.on_event: Callable[[AriEvent], None] = lambda _event: None
        self.clock = clock
        self.loop = loop
        self.faults = faults
        self.rng = rng
        self._random = rng.random
        self._events_ms = 0.0  # arrival time of the last event

    @property
    def is_open(self) -> bool:
        raise NotImplementedError

    def deliver(self, event: AriEvent) -> None:
        """Deliver an event after those before it."""
        if not self.is_open:
            return
        at_ms = self.clock.at_ms + 0.2 + 0.6 * self._random() + self.faults.delay_ms()
        at_ms = self._events_ms = max(self._events_ms, at_ms)
        self.clock.at(at_ms, self._heard, self.loop, event)
        # A duplicated DTMF event looks like a key pressed twice; Asterisk sends it once.
        if not isinstance(event, ChannelDtmfReceived) and self.faults.doubles():
            self.clock.at(at_ms, self._heard, self.loop, event)

    def _heard(self, event: AriEvent) -> None:
        if self.is_open and self.faults.passes("event"):
            if isinstance(event, ChannelDtmfReceived):
                heard = (event.channel.id, event.digit, self.clock.now_ms(), event.duration_ms)
                self.digits.append(heard)
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
