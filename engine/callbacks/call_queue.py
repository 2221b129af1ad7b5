"""A call's events that are in hand: a few in memory, in order; all of them lie in the store."""

from collections import deque
from collections.abc import Iterable

MAX_BUFFERED_EVENTS = 32
NumberedEvent = tuple[int, bytes]


class CallQueue:
    """What an engine holds of a call whose events are being delivered."""

    __slots__ = (
        "age_ms", "call_id", "ends", "events", "is_due", "is_found", "is_resting", "is_whole",
        "missed", "next", "slot", "tries", "unsettled", "way",
    )  # fmt: skip

    def __init__(self, slot: int, call_id: str, way: str) -> None:
        self.slot = slot
        self.call_id = call_id
        self.way = way
        self.tries = 0  # of the first event
        self.age_ms = 0  # how long it had waited when it was found
        self.is_due = False  # it was found in the store at its moment
        self.is_found = False  # so it was while it was being put off
        self.events: deque[NumberedEvent] = deque()
        self.is_whole = False  # all that is due is here; otherwise it is to be read
        self.missed = False  # something was told that is not here
        self.next: int | None = None  # the number that follows what was delivered or is here
        self.is_resting = False  # nothing is left to do but to note what was done
        self.unsettled = 0  # settlements that the store does not have yet
        self.ends = False  # no event can follow

    def add(self, events: Iterable[NumberedEvent], *, ends: bool = False) -> None:
        """Take what was told now, where it follows what is here; else it is to be read later."""
        self.ends = self.ends or ends
        for numbered in events:
            follows = self.next is None or numbered[0] == self.next
            if self.is_whole and follows and len(self.events) < MAX_BUFFERED_EVENTS:
                self.events.append(numbered)
                self.next = numbered[0] + 1
            else:
                self.is_whole, self.missed = False, True

    def loaded(self, events: tuple[NumberedEvent, ...]) -> None:
        """Take what was read; what was told meanwhile is read the next time."""
        self.events = deque(events)
        self.is_whole = not self.missed and len(events) < MAX_BUFFERED_EVENTS
        if events:
            self.next = events[-1][0] + 1

    @property
    def first(self) -> NumberedEvent | None:
        """The event to be delivered now."""
        return self.events[0] if self.events else None
