"""Settlements are stored in the background, and whoever needs them stored waits for that."""

import asyncio
from collections.abc import Sequence
from functools import partial

from engine.callbacks.settlement_writer import MAX_BATCH, SettlementWriter
from engine.store.callback_queue import Settlement
from engine.store.errors import Fenced, StoreDown
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.virtual_time import virtual_time
from tests.unit.callbacks.dispatchers import SlowOutbox
from wire.shard import ShardId


class HeldOutbox(SlowOutbox):
    """An outbox that stores settlements when the test lets it."""

    def __init__(self) -> None:
        super().__init__(MemoryStore().callback_queue, ())
        self.may_store: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stored: list[Settlement] = []
        self.sizes: list[int] = []  # of what was to be stored
        self.faults = 0  # of the next requests

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        """Wait for the test."""
        assert (shard, token) == (SHARD, 1)
        self.sizes.append(len(settlements))
        await asyncio.shield(self.may_store)
        self.faults -= 1
        if self.faults >= 0:
            raise StoreDown("down")
        self.stored += settlements


async def test_a_flush_waits_until_all_are_stored() -> None:
    """Also those that are added meanwhile."""
    outbox = HeldOutbox()
    writer = SettlementWriter(outbox, SHARD, 1)
    settled: list[str] = []
    await writer.flush()
    writer.add(Settlement("a"), lambda: settled.append("a"))
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)  # a turn of the loop
    writer.add(Settlement("b"), lambda: settled.append("b"))
    await asyncio.sleep(0)  # a turn of the loop
    assert not flushing.done()
    outbox.may_store.set_result(None)
    await flushing
    assert [each.call_id for each in outbox.stored] == settled == ["a", "b"]


async def test_a_flush_ends_with_the_token() -> None:
    """The next owner delivers again what was not settled; nothing is stored any more."""
    outbox = HeldOutbox()
    writer = SettlementWriter(outbox, SHARD, 1)
    settled: list[str] = []
    writer.add(Settlement("a"), lambda: settled.append("a"))
    flushing = asyncio.create_task(writer.flush())
    await asyncio.sleep(0)  # a turn of the loop
    outbox.may_store.set_exception(Fenced(SHARD, "other"))
    await flushing
    assert writer.is_stale
    writer.add(Settlement("b"), lambda: settled.append("b"))
    await writer.flush()
    assert (outbox.stored, settled) == ([], [])


@virtual_time
async def test_settlements_wait_for_the_store() -> None:
    """They are stored in order and once, a limited number at a time; the others hear it then."""
    outbox = HeldOutbox()
    outbox.faults = 2
    outbox.may_store.set_result(None)
    writer = SettlementWriter(outbox, SHARD, 1)
    calls, settled = [f"c{number}" for number in range(MAX_BATCH + 1)], list[str]()
    for call in calls:
        writer.add(Settlement(call), partial(settled.append, call))
    await writer.flush()
    assert [each.call_id for each in outbox.stored] == settled == calls
    assert outbox.sizes == [MAX_BATCH, MAX_BATCH, MAX_BATCH, 1]


async def test_a_closed_writer_stores_nothing_more() -> None:
    """What it was about to store is left to the next owner."""
    outbox = HeldOutbox()
    writer, settled = SettlementWriter(outbox, SHARD, 1), list[str]()
    writer.add(Settlement("a"), lambda: settled.append("a"))
    await asyncio.sleep(0)  # a turn of the loop
    await writer.close()
    outbox.may_store.set_result(None)
    writer.add(Settlement("b"), lambda: settled.append("b"))
    await writer.flush()
    assert (outbox.sizes, outbox.stored, settled) == ([1], [], [])
