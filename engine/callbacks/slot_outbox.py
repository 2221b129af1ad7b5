"""A slot's box: which calls are in hand, and what is noted of them."""

from collections.abc import Callable
from typing import Protocol

from engine.callbacks.call_queue import Line
from engine.callbacks.ledger import Ledger
from engine.store.outbox import Settlement


def _nothing() -> None:
    """Nobody waits."""


class Lease(Protocol):
    """How long the slot is ours, and by which token."""

    token: int

    @property
    def holds(self) -> bool:
        """Whether nobody else can have it yet."""


class Box:
    """What an engine holds of one slot's outbox."""

    def __init__(self, slot: int, lease: Lease, ledger: Ledger) -> None:
        self.slot = slot
        self.lease = lease
        self.lines: dict[str, Line] = {}  # of the calls in hand
        self.is_new = True  # what its last owner had in hand is to be taken, too
        self.is_closing = False
        self._ledger = ledger
        self._next: dict[str, int] = {}  # of calls of which all is delivered: the number to come

    @property
    def is_open(self) -> bool:
        """Whether events may go."""
        return self.lease.holds and not self.is_closing

    def line_of(self, call_id: str, way: str, first: int) -> Line:
        """Make the line of a call that was not in hand; its events are here if none is due."""
        line = Line(self.slot, call_id, way)
        if first == 0 or self._next.get(call_id) == first:
            line.is_whole, line.next = True, first
        return line

    def hold(self, line: Line) -> None:
        """Take a call in hand."""
        self.lines[line.call_id] = line
        self._next.pop(line.call_id, None)

    def holds(self, line: Line) -> bool:
        """Tell whether a line is still this call's."""
        return self.lines.get(line.call_id) is line

    def release(self, line: Line) -> None:
        """Remove the call, unless another line of it is in hand; keep the number to come."""
        if not self.holds(line):
            return
        del self.lines[line.call_id]
        if line.is_whole and not line.events and not line.ends and line.next is not None:
            self._next[line.call_id] = line.next

    def forget(self, call_id: str) -> None:
        """Let a call go whose events lie in the store until their moment comes."""
        self.lines.pop(call_id, None)
        self._next.pop(call_id, None)

    def forget_line(self, line: Line) -> None:
        """Forget a line's call, unless another line of it is in hand."""
        if self.holds(line):
            self.forget(line.call_id)

    def note(self, settlement: Settlement, noted: Callable[[], None] = _nothing) -> None:
        """Note what became of events."""
        self._ledger.note(settlement, noted)

    async def flushed(self) -> None:
        """Wait until all is noted."""
        await self._ledger.flushed()

    async def close(self) -> None:
        """Note nothing more."""
        self.is_closing = True
        await self._ledger.close()
