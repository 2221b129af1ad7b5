"""A slot's box: which calls are in hand, and what is noted of them."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from engine.callbacks.call_queue import CallQueue
from engine.store.errors import Fenced, StoreDown
from engine.store.lease import LeaseView
from engine.store.outbox import Settlement

MAX_BATCH = 256
RETRY_DELAY_S = 0.2
OnSettled = Callable[[], None]


class SettlementStore(Protocol):
    """Where it is noted."""

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """Note what became of events; raises Fenced, StoreDown."""


class SettlementWriter:
    """Notes for one slot and one token; once that is stale, it notes nothing more."""

    def __init__(self, outbox: SettlementStore, slot: int, token: int) -> None:
        self._outbox = outbox
        self._slot = slot
        self._token = token
        self._pending: list[tuple[Settlement, OnSettled]] = []
        self._writing: asyncio.Task[None] | None = None
        self.is_stale = False

    def add(self, settlement: Settlement, noted: OnSettled) -> None:
        """Note something soon, then call `noted`."""
        if self.is_stale:
            return
        self._pending.append((settlement, noted))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def flush(self) -> None:
        """Wait until all is noted, or the slot is another's."""
        while self._writing is not None and not self.is_stale:
            await asyncio.wait([self._writing])

    async def close(self) -> None:
        """Stop; what is not noted is delivered again, by the next owner."""
        self.is_stale = True
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.gather(self._writing, return_exceptions=True)

    async def _write(self) -> None:
        try:
            while self._pending and not self.is_stale:
                batch = self._pending[:MAX_BATCH]
                if await self._try([settlement for settlement, _ in batch]):
                    del self._pending[: len(batch)]
                    for _, noted in batch:
                        noted()
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
    """Nobody waits."""


class SlotOutbox:
    """What an engine holds of one slot's outbox."""

    def __init__(self, slot: int, lease: LeaseView, ledger: SettlementWriter) -> None:
        self.slot = slot
        self.lease = lease
        self.queues: dict[str, CallQueue] = {}  # of the calls in hand
        self.is_new = True  # what its last owner had in hand is to be taken, too
        self.is_closing = False
        self._settlements = ledger
        self._next_seq: dict[
            str, int
        ] = {}  # of calls of which all is delivered: the number to come

    @property
    def is_open(self) -> bool:
        """Whether events may go."""
        return self.lease.holds and not self.is_closing

    def create_queue(self, call_id: str, way: str, first: int) -> CallQueue:
        """Make the line of a call that was not in hand; its events are here if none is due."""
        line = CallQueue(self.slot, call_id, way)
        if first == 0 or self._next_seq.get(call_id) == first:
            line.is_complete, line.next_seq = True, first
        return line

    def add(self, line: CallQueue) -> None:
        """Take a call in hand."""
        self.queues[line.call_id] = line
        self._next_seq.pop(line.call_id, None)

    def contains(self, line: CallQueue) -> bool:
        """Tell whether a line is still this call's."""
        return self.queues.get(line.call_id) is line

    def release(self, line: CallQueue) -> None:
        """Remove the call, unless another line of it is in hand; keep the number to come."""
        if not self.contains(line):
            return
        del self.queues[line.call_id]
        if (
            line.is_complete
            and not line.events
            and not line.no_more_events
            and line.next_seq is not None
        ):
            self._next_seq[line.call_id] = line.next_seq

    def discard(self, call_id: str) -> None:
        """Let a call go whose events lie in the store until their moment comes."""
        self.queues.pop(call_id, None)
        self._next_seq.pop(call_id, None)

    def discard_queue(self, line: CallQueue) -> None:
        """Forget a line's call, unless another line of it is in hand."""
        if self.contains(line):
            self.discard(line.call_id)

    def settle(self, settlement: Settlement, noted: Callable[[], None] = _nothing) -> None:
        """Note what became of events."""
        self._settlements.add(settlement, noted)

    async def flush(self) -> None:
        """Wait until all is noted."""
        await self._settlements.flush()

    async def close(self) -> None:
        """Note nothing more."""
        self.is_closing = True
        await self._settlements.close()
