"""The calls of a shard whose events this engine delivers, each with its undelivered events.

A call has a few in memory, in order; all of them are in the store.
"""

from collections import deque
from collections.abc import Iterable

from msgspec import Struct, field

from base.tasks import PendingKeys
from engine.callbacks.settlement_writer import OnSettled, SettlementWriter
from engine.store.callback_queue import Settlement
from engine.store.store import LeaseView
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


def _nothing() -> None:
    pass


class ShardQueues:
    """The calls of one shard whose events this engine delivers."""

    def __init__(self, shard: ShardId, lease: LeaseView, settlements: SettlementWriter) -> None:
        self.shard = shard
        self.lease = lease
        self.queues: dict[str, CallQueue] = {}  # of the calls being delivered
        self.is_new = True  # the last owner's claims are still to be claimed
        self.is_closing = False
        self.in_flight = PendingKeys()  # deliveries, by call
        self._settlements = settlements
        self._next_seq: dict[str, int] = {}  # of calls whose events are all delivered

    @property
    def is_open(self) -> bool:
        return self.lease.holds and not self.is_closing

    def create_queue(self, call_id: str, delivery_key: str, first_seq: int) -> CallQueue:
        """Create the queue of a call without one; it is complete if no older event is due."""
        call = CallQueue(self.shard, call_id, delivery_key)
        if first_seq == 0 or self._next_seq.get(call_id) == first_seq:
            call.is_complete, call.next_seq = True, first_seq
        return call

    def add(self, call: CallQueue) -> None:
        """Start to deliver a call's events."""
        self.queues[call.call_id] = call
        self._next_seq.pop(call.call_id, None)

    def contains(self, call: CallQueue) -> bool:
        """Return whether this queue is still the call's current one."""
        return self.queues.get(call.call_id) is call

    def release(self, call: CallQueue) -> None:
        """Remove a finished queue if it is the current one; remember the next event's number."""
        if not self.contains(call):
            return
        del self.queues[call.call_id]
        is_finished = call.is_complete and not call.events
        if is_finished and not call.no_more_events and call.next_seq is not None:
            self._next_seq[call.call_id] = call.next_seq

    def discard(self, call_id: str) -> None:
        """Remove a call whose events stay in the store until they are due."""
        self.queues.pop(call_id, None)
        self._next_seq.pop(call_id, None)

    def discard_queue(self, call: CallQueue) -> None:
        """Discard a queue's call if the queue is the current one."""
        if self.contains(call):
            self.discard(call.call_id)

    def settle(self, settlement: Settlement, on_settled: OnSettled = _nothing) -> None:
        self._settlements.add(settlement, on_settled)

    async def flush(self) -> None:
        await self._settlements.flush()

    async def close(self) -> None:
        self.is_closing = True
        await self._settlements.close()
