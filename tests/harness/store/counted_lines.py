"""Logs that count how many of their lines are read in one turn of the event loop."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, SupportsIndex

from tests.harness.store.unreliable_memory import UnreliableStore
from wire.shard import ShardId


class LineMeter:
    """The most lines that were read in one turn."""

    def __init__(self) -> None:
        self.most = 0
        self._count = 0

    def add(self) -> None:
        """Count a line."""
        self._count += 1
        self.most = max(self.most, self._count)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Begin at 0 in each turn."""
        loop, is_running = asyncio.get_running_loop(), True
        self.most = 0

        def begin() -> None:
            self._count = 0
            if is_running:
                loop.call_soon(begin)

        begin()
        yield
        is_running = False


class CountedLines(list[bytes]):
    """Lines that are counted as they are read one after another."""

    def __init__(self, lines: list[bytes], meter: LineMeter) -> None:
        super().__init__(lines)
        self._meter = meter

    def __iter__(self) -> Iterator[bytes]:
        for each in super().__iter__():
            self._meter.add()
            yield each

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        found: Any = super().__getitem__(index)
        return CountedLines(found, self._meter) if isinstance(index, slice) else found


class CountingStore(UnreliableStore):
    """A memory store whose logs count."""

    def __init__(self) -> None:
        super().__init__()
        self.meter = LineMeter()

    async def log(
        self, shard: ShardId, call_id: str, first: int = 0, limit: int | None = None
    ) -> list[bytes]:
        return CountedLines(await super().log(shard, call_id, first, limit), self.meter)
