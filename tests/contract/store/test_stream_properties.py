"""Random consumers: each event is acknowledged, redelivered, or reported as lost."""

import random
from collections import Counter

import pytest

from engine.store.store import Store
from engine.store.stream import Batch, Consumer, StreamLimits
from tests.contract.store.streams import Publisher, open_publisher
from tests.harness.shards import at
from tests.harness.store.stores import Opener
from wire.shard import ShardId

SHARDS = (at(3), at(4))
STEPS = 120


class Consumers:
    """Two groups, each with two consumers that read, acknowledge, or crash."""

    def __init__(self, store: Store, rng: random.Random) -> None:
        self.delivered: Counter[tuple[str, str]] = Counter()  # by group and event, as new
        self.done: dict[str, set[str]] = {"cdr": set(), "live": set()}
        self.lost: Counter[str] = Counter()
        self._held: dict[str, Batch] = {}
        self._store = store
        self._rng = rng

    async def step(self) -> None:
        """Let one consumer take a step."""
        group = self._rng.choice(tuple(self.done))
        consumer = f"{group}{self._rng.randrange(2)}"
        if consumer in self._held and self._rng.random() < 0.7:
            await self._finish(group, self._held.pop(consumer))
        else:  # a crash: it acknowledges nothing
            idle_ms = self._rng.choice((0, 60_000))
            self._held[consumer] = await self._take(Consumer(group, consumer, idle_ms), 40)

    async def drain(self) -> None:
        """Let one consumer of each group take and acknowledge all that is due."""
        for group in self.done:
            while (batch := await self._take(Consumer(group, "last", 0), 1_000)) != Batch():
                await self._finish(group, batch)

    async def _take(self, consumer: Consumer, limit: int) -> Batch:
        batch = await self._store.stream.read_group(consumer, SHARDS, 0, limit)
        for each in batch.entries:
            if not each.redelivered:
                self.delivered[consumer.group, each.event.decode()] += 1
        return batch

    async def _finish(self, group: str, batch: Batch) -> None:
        ids: dict[ShardId, list[str]] = {}
        for each in batch.entries:
            ids.setdefault(each.shard, []).append(each.id)
        for gap in batch.gaps:
            # Another may have acknowledged it meanwhile, or it may have grown.
            self.lost[group] += gap.max_lost * await self._store.stream.acknowledge(
                group, {}, {gap.shard: gap.end}
            )
        await self._store.stream.acknowledge(group, ids, {})
        self.done[group] |= {each.event.decode() for each in batch.entries}


@pytest.mark.parametrize("seed", range(12))
async def test_no_event_is_lost_silently(opened: Opener, seed: int) -> None:
    """This holds for two shards, below and above the maximum length."""
    rng = random.Random(seed)
    store = opened(stream_limits=StreamLimits(50, rng.choice((120, 100_000))))
    publishers = [await open_publisher(store, shard) for shard in SHARDS]
    consumers = Consumers(store, rng)
    await consumers.drain()  # creates the groups before the first event
    published: set[str] = set()
    for step in range(STEPS):
        if rng.random() < 0.5:
            published |= await _some(rng, publishers, step)
        else:
            await consumers.step()
    await consumers.drain()
    for group, done in consumers.done.items():
        assert done <= published
        assert len(published - done) <= consumers.lost[group], f"{group}: lost silently"
        assert max(Counter(consumers.delivered).values()) == 1, "new to a group twice"
    if not consumers.lost:
        assert all(done == published for done in consumers.done.values())


async def _some(rng: random.Random, publishers: list[Publisher], step: int) -> set[str]:
    shard = rng.randrange(len(SHARDS))
    events = {f"{shard}-{step}-{number}" for number in range(rng.choice((1, 5, 60)))}
    await publishers[shard](*sorted(events))
    return events
