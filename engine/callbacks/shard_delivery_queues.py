"""A shard's outbox in this engine: the calls whose events it delivers."""

from base.tasks import PendingKeys
from engine.callbacks.call_queue import CallQueue
from engine.callbacks.settlement_writer import OnSettled, SettlementWriter
from engine.store.outbox import Settlement
from engine.store.store import LeaseView
from wire.shard import ShardId


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
