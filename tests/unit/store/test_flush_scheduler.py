"""Who commits together: the writers of the slots held, and no others."""

import asyncio

from engine.store.flush_scheduler import Flushable, FlushScheduler
from engine.store.memory.store import MemoryStore
from engine.store.writer import Writer
from tests.contract.store.stores import claimed


class Circle(FlushScheduler):
    """A pace that says who keeps it."""

    def __init__(self) -> None:
        super().__init__()
        self.members: list[Flushable] = []

    def add(self, writer: Flushable) -> None:
        """Note it."""
        super().add(writer)
        self.members.append(writer)

    def remove(self, writer: Flushable) -> None:
        """Note it."""
        super().remove(writer)
        self.members.remove(writer)


async def test_who_has_ended_is_in_pace_no_more() -> None:
    """Slots change hands for as long as an engine lives: each time they get another writer."""
    pace, store = Circle(), MemoryStore()
    token = await claimed(store, 3, "engine1")
    writers = [Writer(store, 3, token, lambda: 0.0, pace=pace) for _ in range(2)]
    writing = [asyncio.create_task(writer.run()) for writer in writers]
    await asyncio.sleep(0)
    writing[0].cancel()
    await asyncio.gather(writing[0], return_exceptions=True)
    assert pace.members == [writers[1]]
    pace.flush_now()
    writing[1].cancel()
