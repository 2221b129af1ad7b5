"""What is remembered of a store: read once a moment, however many ask."""

import asyncio

import pytest

from engine.runtime.base.ttl_cache import TtlCache
from engine.store.errors import StoreDown
from tests.unit.runtime.harness.shard_bench import ManualClock


class ManualReader:
    """A store that answers when it is let, and may be down."""

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.may_read = asyncio.Event()
        self.is_down = False

    async def read(self, key: str) -> str:
        """Read, once it may."""
        self.reads.append(key)
        await self.may_read.wait()
        if self.is_down:
            raise StoreDown("by hand")
        return key.upper()


async def test_all_who_ask_at_once_share_a_read() -> None:
    """A crowd at the moment when something grows old costs the store one question."""
    shelf, clock = ManualReader(), ManualClock()
    remembered = TtlCache(shelf.read, clock.now_ms)
    asked = [asyncio.create_task(remembered.get("a")) for _ in range(50)]
    loop = asyncio.get_running_loop()
    loop.call_soon(asked[0].cancel)
    loop.call_soon(shelf.may_read.set)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert (set(answers[1:]), shelf.reads) == ({"A"}, ["a"])
    clock.pass_ms(1_000)
    assert remembered.get_fresh("a") is None
    assert (await remembered.get("a"), shelf.reads) == ("A", ["a", "a"])


async def test_a_read_that_fails_is_not_remembered() -> None:
    """All who asked are told; the next asks again, and may look at what was known before."""
    shelf, clock = ManualReader(), ManualClock()
    remembered = TtlCache(shelf.read, clock.now_ms)
    shelf.may_read.set()
    await remembered.get("a")
    clock.pass_ms(5_000)
    shelf.is_down = True
    for _ in range(2):
        with pytest.raises(StoreDown):
            await remembered.get("a")
    last = remembered.get_stale("a")
    assert last is not None
    assert (last.value, len(shelf.reads)) == ("A", 3)
