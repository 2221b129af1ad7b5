"""Writers that commit together: those of the slots held, and no others."""

import asyncio

from engine.store.memory.store import MemoryStore
from engine.store.writer import FlushScheduler, Writer
from tests.contract.store.stores import claim_slot


class RecordingScheduler(FlushScheduler):
    """A scheduler that shows its members."""

    def __init__(self) -> None:
        super().__init__()
        self.members: list[Writer] = []

    def add(self, writer: Writer) -> None:
        super().add(writer)
        self.members.append(writer)

    def remove(self, writer: Writer) -> None:
        super().remove(writer)
        self.members.remove(writer)


async def test_an_ended_writer_leaves_the_scheduler() -> None:
    """Slots change owners while an engine runs: each time they get another writer."""
    scheduler, store = RecordingScheduler(), MemoryStore()
    token = await claim_slot(store, 3, "engine1")
    writers = [Writer(store, 3, token, lambda: 0.0, scheduler=scheduler) for _ in range(2)]
    writing = [asyncio.create_task(writer.run()) for writer in writers]
    await asyncio.sleep(0)
    writing[0].cancel()
    await asyncio.gather(writing[0], return_exceptions=True)
    assert scheduler.members == [writers[1]]
    scheduler.flush_now()
    writing[1].cancel()
