"""Ended calls are compressed in the background."""

import asyncio
from collections.abc import Sequence

from base.tasks import cancel_all
from engine.runtime.ownership.ended_calls import (
    AFTER_MS,
    BATCH_SIZE,
    INTERVAL_S,
    TRIM_EVERY,
    EndedCallCompressor,
)
from engine.store.change import Change
from engine.store.compressed_call import DICTIONARY
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import at
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time
from wire.shard import ShardId

CALLS = BATCH_SIZE + 3


class Scene:
    """A shard with ended calls, and its compressor."""

    def __init__(self, dictionary: int = DICTIONARY) -> None:
        self.now_ms = 1_000_000
        self.store = MemoryStore(lambda: self.now_ms)
        self.tokens: dict[ShardId, int] = {}
        self.compressor = EndedCallCompressor(self.store, lambda: self.tokens, lambda: dictionary)

    async def end_calls(self) -> None:
        """Claim shard 3, and store ended calls."""
        token = await self.store.claim(at(3), "engine1", 60_000)
        assert token is not None
        for number in range(CALLS):
            change = Change(f"c{number}", "pbx1", b"over", 0, (b"line",), live=False)
            await self.store.commit(at(3), token, [change])
        self.tokens = {at(3): token}

    async def left(self) -> int:
        """Count the calls that wait for their compression, by compressing them."""
        return await self.store.compress_ended(self.tokens, -1, CALLS, DICTIONARY)


async def test_all_due_calls_are_compressed() -> None:
    """Batch by batch, some time after their end."""
    scene = Scene()
    await scene.end_calls()
    scene.now_ms += AFTER_MS
    async with asyncio.timeout(10):
        await scene.compressor.compress()
    assert await scene.left() == 0
    assert await scene.store.log(at(3), "c0") == [b"line"]


async def test_a_call_that_has_just_ended_waits() -> None:
    """Its last commit may be repeated."""
    scene = Scene()
    await scene.end_calls()
    scene.now_ms += AFTER_MS - 1
    await scene.compressor.compress()
    assert await scene.left() == CALLS


async def test_nothing_is_compressed_while_an_engine_could_not_read_it() -> None:
    """During an upgrade from a version without compression."""
    scene = Scene(dictionary=0)
    await scene.end_calls()
    scene.now_ms += AFTER_MS
    await scene.compressor.compress()
    assert await scene.left() == CALLS


@virtual_time
async def test_it_runs_again_and_again() -> None:
    """Also after the store was down; old events are removed every minute."""
    scene, now_s = Scene(), asyncio.get_running_loop().time
    await scene.end_calls()
    scene.now_ms += AFTER_MS
    trims: list[float] = []

    async def trim_old(shards: Sequence[ShardId]) -> None:
        assert shards == [at(3)]
        trims.append(now_s())

    scene.store.stream.trim_old = trim_old  # type: ignore[method-assign]  # notes its times
    running = asyncio.create_task(scene.compressor.run())
    await until(lambda: now_s() > INTERVAL_S, every_s=0.5)
    assert await scene.left() == 0
    await until(lambda: len(trims) == 2, every_s=0.5)
    minute_s = TRIM_EVERY * INTERVAL_S
    assert [round(each, -1) for each in trims] == [minute_s, 2 * minute_s]
    await cancel_all([running])


async def test_a_later_peer_does_not_change_the_dictionary() -> None:
    """An engine compresses with what it has itself."""
    scene = Scene(dictionary=DICTIONARY + 1)
    await scene.end_calls()
    scene.now_ms += AFTER_MS
    await scene.compressor.compress()
    assert await scene.left() == 0
