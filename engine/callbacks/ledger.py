"""What became of a slot's events, noted in the store in groups and in order."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from engine.store.errors import Fenced, StoreDown
from engine.store.outbox import Settlement

MOST_AT_ONCE = 256
AGAIN_S = 0.2
Noted = Callable[[], None]


class Settling(Protocol):
    """Where it is noted."""

    async def settle(self, slot: int, token: int, settlements: Sequence[Settlement]) -> None:
        """Note what became of events; raises Fenced, StoreDown."""


class Ledger:
    """Notes for one slot and one token; once that is stale, it notes nothing more."""

    def __init__(self, outbox: Settling, slot: int, token: int) -> None:
        self._outbox = outbox
        self._slot = slot
        self._token = token
        self._pending: list[tuple[Settlement, Noted]] = []
        self._writing: asyncio.Task[None] | None = None
        self.is_stale = False

    def note(self, settlement: Settlement, noted: Noted) -> None:
        """Note something soon, then call `noted`."""
        if self.is_stale:
            return
        self._pending.append((settlement, noted))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def flushed(self) -> None:
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
                batch = self._pending[:MOST_AT_ONCE]
                if await self._try([settlement for settlement, _ in batch]):
                    del self._pending[: len(batch)]
                    for _, noted in batch:
                        noted()
                else:
                    await asyncio.sleep(AGAIN_S)
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
