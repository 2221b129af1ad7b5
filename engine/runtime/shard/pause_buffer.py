"""Buffers a shard's events while its node is disconnected and the calls' deadlines are paused."""

import asyncio
from collections.abc import Iterable

from engine.calls.model.events import DigitPressed, Event, LegReplaced
from engine.runtime.shard.live_call import LiveCall


class PauseBuffer:
    """The events of a paused shard, and where some are missing; it starts paused."""

    def __init__(self) -> None:
        self.resumed = asyncio.Event()  # unset while the shard is paused
        self.events: list[tuple[LiveCall, Event]] = []
        self._gap = 0  # index of the first event after the missed ones

    def pause(self) -> None:
        self.resumed.clear()

    def mark_gap(self) -> None:
        """Pause, and note that events are missed from here on."""
        self.pause()
        self._gap = len(self.events)

    def append(self, live_call: LiveCall, event: Event) -> None:
        """Pause, and buffer an event."""
        self.pause()
        self.events.append((live_call, event))

    def resume(self) -> list[tuple[LiveCall, Event]]:
        """End the pause and return the buffered events."""
        self.resumed.set()
        events, self.events, self._gap = self.events, [], 0
        return events

    def insert_missed(self, live_call: LiveCall, events: Iterable[Event]) -> None:
        """Insert recovered events at the gap."""
        recovered = [(live_call, event) for event in events]
        self.events[self._gap : self._gap] = recovered
        self._gap += len(recovered)

    def last_digits_before_gap(self) -> dict[str, DigitPressed]:
        """Return each leg's last buffered digit before the gap."""
        before = self.events[: self._gap]
        digits = (event for _, event in before if isinstance(event, DigitPressed))
        return {digit.leg: digit for digit in digits}

    def first_digits_after_gap(self) -> dict[str, DigitPressed]:
        """Return each leg's first buffered digit after the gap."""
        after = self.events[self._gap :]
        digits = (event for _, event in reversed(after) if isinstance(event, DigitPressed))
        return {digit.leg: digit for digit in digits}

    def replaced_legs(self) -> dict[str, str]:
        """Return the legs that were replaced, each with the channel in its place."""
        events = (event for _, event in self.events if isinstance(event, LegReplaced))
        return {event.replaced: event.leg for event in events}
