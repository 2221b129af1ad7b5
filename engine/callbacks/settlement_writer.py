"""Stores settlements of a shard's delivered events, in batches."""

import asyncio
from collections.abc import Callable

from base.tasks import cancel_all
from engine.store.callback_queue import CallbackQueue, Settlement
from engine.store.errors import Fenced, StoreDown
from wire.shard import ShardId

MAX_BATCH = 256
RETRY_DELAY_S = 0.2
OnSettled = Callable[[], None]


class SettlementWriter:
    """Stores settlements for one shard and token; stops when the token is stale."""

    def __init__(self, callback_queue: CallbackQueue, shard: ShardId, token: int) -> None:
        self._callback_queue = callback_queue
        self._shard = shard
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
        while self._writing is not None:
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
            await self._callback_queue.settle(self._shard, self._token, settlements)
        except StoreDown:
            return False
        return True
