"""A slot's outbox in this engine: the calls being delivered, and the settlements to store."""

import asyncio
from collections.abc import Callable

from engine.callbacks.call_queue import CallQueue
from engine.common.tasks import cancel_all
from engine.store.errors import Fenced, StoreDown
from engine.store.outbox import Outbox, Settlement
from engine.store.store import LeaseView

MAX_BATCH = 256
RETRY_DELAY_S = 0.2
OnSettled = Callable[[], None]


class SettlementWriter:
    """Stores settlements for one slot and token; stops when the token is stale."""

    def __init__(self, outbox: Outbox, slot: int, token: int) -> None:
        self._outbox = outbox
        self._slot = slot
        self._token = token
        self._pending: list[tuple[Settlement, OnSettled]] = []
        self._writing: asyncio.Task[None] | None = None
        self.is_stale = False

    def add(self, settlement: Settlement, on_settled: OnSettled) -> None:
        """Store a settlement soon, then call `on_settled`."""
        if self.is_stale:
            return
        self._pending.append((settlement, on_settled))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def flush(self) -> None:
        """Wait until every settlement is stored or the token is stale."""
        while self._writing is not None and not self.is_stale:
            await asyncio.wait([self._writing])

    async def close(self) -> None:
        """Stop; the next owner redelivers unsettled events."""
        self.is_stale = True
        if self._writing is not None:
            await cancel_all([self._writing])

    async def _write(self) -> None:
        try:
            while self._pending and not self.is_stale:
                batch = self._pending[:MAX_BATCH]
                if await self._try([settlement for settlement, _ in batch]):
                    del self._pending[: len(batch)]
                    for _, on_settled in batch:
                        on_settled()
                else:
                    await asyncio.sleep(RETRY_DELAY_S)
        except Fenced:
            self.is_stale = True
            self._pending.clear()
        finally:
            self._writing = None

    async def _try(self, settlements: list[Settlement]) -> bool:
        try:
            await self._outbox.settle(self._slot, self._token, settlements)
        except StoreDown:
            return False
        return True


def _nothing() -> None:
    pass


class SlotOutbox:
    """The calls of one slot whose events this engine delivers."""

    def __init__(self, slot: int, lease: LeaseView, settlements: SettlementWriter) -> None:
        self.slot = slot
        self.lease = lease
        self.queues: dict[str, CallQueue] = {}  # of the calls being delivered
        self.is_new = True  # the last owner's claims are still to be claimed
        self.is_closing = False
        self._settlements = settlements
        self._next_seq: dict[str, int] = {}  # of calls whose events are all delivered

    @property
    def is_open(self) -> bool:
        return self.lease.holds and not self.is_closing

    def create_queue(self, call_id: str, delivery_key: str, first_seq: int) -> CallQueue:
        """Create the queue of a call without one; it is complete if no older event is due."""
        call = CallQueue(self.slot, call_id, delivery_key)
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
