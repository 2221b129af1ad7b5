"""A call's events that are in hand: a few in memory, in order; all of them lie in the store."""

from collections import deque
from collections.abc import Iterable

MAX_BUFFERED_EVENTS = 32
NumberedEvent = tuple[int, bytes]


class CallQueue:
    """What an engine holds of a call whose events are being delivered."""

    __slots__ = (
        "age_ms", "call_id", "delivery_key", "events", "has_gap", "is_complete", "is_due",
        "is_due_again", "is_idle", "next_seq", "no_more_events", "slot", "tries", "unsettled",
    )  # fmt: skip

    def __init__(self, slot: int, call_id: str, way: str) -> None:
        self.slot = slot
        self.call_id = call_id
        self.delivery_key = way
        self.tries = 0  # of the first event
        self.age_ms = 0  # how long it had waited when it was found
        self.is_due = False  # it was found in the store at its moment
        self.is_due_again = False  # so it was while it was being put off
        self.events: deque[NumberedEvent] = deque()
        self.is_complete = False  # all that is due is here; otherwise it is to be read
        self.has_gap = False  # something was told that is not here
        self.next_seq: int | None = None  # the number that follows what was delivered or is here
        self.is_idle = False  # nothing is left to do but to note what was done
        self.unsettled = 0  # settlements that the store does not have yet
        self.no_more_events = False  # no event can follow

    def add(self, events: Iterable[NumberedEvent], *, ends: bool = False) -> None:
        """Take what was told now, where it follows what is here; else it is to be read later."""
        self.no_more_events = self.no_more_events or ends
        for numbered in events:
            follows = self.next_seq is None or numbered[0] == self.next_seq
            if self.is_complete and follows and len(self.events) < MAX_BUFFERED_EVENTS:
                self.events.append(numbered)
                self.next_seq = numbered[0] + 1
            else:
                self.is_complete, self.has_gap = False, True

    def load(self, events: tuple[NumberedEvent, ...]) -> None:
        """Take what was read; what was told meanwhile is read the next time."""
        self.events = deque(events)
        self.is_complete = not self.has_gap and len(events) < MAX_BUFFERED_EVENTS
        if events:
            self.next_seq = events[-1][0] + 1

    @property
    def head(self) -> NumberedEvent | None:
        """The event to be delivered now."""
        return self.events[0] if self.events else None
