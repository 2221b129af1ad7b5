"""The undelivered events of one call: a few in memory, in order; all of them in the store."""

from collections import deque
from collections.abc import Iterable

from msgspec import Struct, field

from wire.shard import ShardId

MAX_BUFFERED_EVENTS = 32
NumberedEvent = tuple[int, bytes]


class CallQueue(Struct, eq=False):
    """What an engine holds of a call while it delivers the call's events."""

    shard: ShardId
    call_id: str
    delivery_key: str
    tries: int = 0  # of the first event
    age_ms: int = 0  # of the call's oldest event when it was claimed
    is_due: bool = False  # claimed from the store when it was due
    is_due_again: bool = False  # claimed while a postponement was being stored
    events: deque[NumberedEvent] = field(default_factory=deque)
    is_complete: bool = False  # all undelivered events are in memory; otherwise read the store
    has_gap: bool = False  # an event was emitted that is not in memory
    next_seq: int | None = None  # the number after the last delivered or buffered event
    is_idle: bool = False  # nothing is left to deliver, only settlements to be stored
    unsettled: int = 0  # settlements that are not stored yet
    no_more_events: bool = False
    has_new_events: bool = False  # some were emitted since the last postponement

    def add(self, events: Iterable[NumberedEvent], *, no_more_events: bool = False) -> None:
        """Buffer new events that follow the buffered ones; the others are read from the store."""
        self.no_more_events = self.no_more_events or no_more_events
        self.has_new_events = True
        for numbered in events:
            is_next = self.next_seq is None or numbered[0] == self.next_seq
            if self.is_complete and is_next and len(self.events) < MAX_BUFFERED_EVENTS:
                self.events.append(numbered)
                self.next_seq = numbered[0] + 1
            else:
                self.is_complete, self.has_gap = False, True

    def load(self, events: tuple[NumberedEvent, ...]) -> None:
        """Buffer events read from the store; those emitted during the read are read next time."""
        self.events = deque(events)
        self.is_complete = not self.has_gap and len(events) < MAX_BUFFERED_EVENTS
        if events:
            self.next_seq = events[-1][0] + 1

    @property
    def head(self) -> NumberedEvent | None:
        """The event to deliver next."""
        return self.events[0] if self.events else None
