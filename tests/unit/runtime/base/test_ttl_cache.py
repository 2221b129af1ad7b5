"""The TTL cache: one read per key and second, however many callers."""

import asyncio

import pytest

from base.ttl_cache import TtlCache
from engine.store.errors import StoreDown
from tests.harness.runtime.shard_scene import ManualClock


class ManualReader:
    """A store that answers when the test lets it, and can be down."""

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.may_read = asyncio.Event()
        self.is_down = False

    async def read(self, key: str) -> str:
        """Read once `may_read` is set."""
        self.reads.append(key)
        await self.may_read.wait()
        if self.is_down:
            raise StoreDown("by hand")
        return key.upper()


async def test_concurrent_callers_share_a_read() -> None:
    """An expired entry costs one read, however many wait; a cancelled caller fails no other."""
    reader, clock = ManualReader(), ManualClock()
    cache = TtlCache(reader.read, clock.now_ms)
    tasks = [asyncio.create_task(cache.get("a")) for _ in range(50)]
    loop = asyncio.get_running_loop()
    loop.call_soon(tasks[0].cancel)
    loop.call_soon(reader.may_read.set)
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert (set(answers[1:]), reader.reads) == ({"A"}, ["a"])
    clock.pass_ms(1_000)
    assert cache.get_fresh("a") is None
    assert (await cache.get("a"), reader.reads) == ("A", ["a", "a"])


async def test_a_failed_read_is_not_cached() -> None:
    """All waiting callers get the error; the next call reads again, and the stale entry remains."""
    reader, clock = ManualReader(), ManualClock()
    cache = TtlCache(reader.read, clock.now_ms)
    reader.may_read.set()
    await cache.get("a")
    clock.pass_ms(5_000)
    reader.is_down = True
    for _ in range(2):
        with pytest.raises(StoreDown):
            await cache.get("a")
    last = cache.get_stale("a")
    assert last is not None
    assert (last.value, len(reader.reads)) == ("A", 3)
