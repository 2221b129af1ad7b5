"""Helpers of the stream tests: publishing and reading."""

from collections.abc import Iterable

from engine.store.change import Change
from engine.store.store import Store
from engine.store.stream import START, Batch, Consumer
from tests.harness.shards import SHARD
from tests.harness.store.stores import claim_shard
from wire.shard import ShardId

CDR, OTHER = Consumer("cdr", "api1"), Consumer("cdr", "api2")
NOW = Consumer("cdr", "api2", idle_ms=0)


class Publisher:
    """Publishes events in a shard, at most a hundred in one commit."""

    def __init__(self, store: Store, shard: ShardId, token: int) -> None:
        self._store, self._shard, self._token = store, shard, token
        self._calls = 0

    async def __call__(self, *events: str) -> None:
        """Publish events."""
        for first in range(0, len(events), 100):
            encoded = tuple(each.encode() for each in events[first : first + 100])
            self._calls += 1
            change = Change(f"c{self._calls}", "pbx1", b"", 0, (b"line",), encoded)
            await self._store.commit(self._shard, self._token, [change])


async def open_publisher(store: Store, shard: ShardId = SHARD) -> Publisher:
    """Claim a shard."""
    return Publisher(store, shard, await claim_shard(store, shard))


def numbers(begin: int, end: int) -> list[str]:
    """Return numbers as event texts."""
    return [str(number) for number in range(begin, end)]


def event_texts(batch: Batch) -> list[str]:
    """Return the events of a batch as text."""
    return [each.event.decode() for each in batch.entries]


async def acknowledge_all(store: Store, batch: Batch, group: str = "cdr") -> int:
    """Acknowledge all of a batch."""
    ids: dict[ShardId, list[str]] = {}
    for each in batch.entries:
        ids.setdefault(each.shard, []).append(each.id)
    return await store.stream.acknowledge(group, ids, {gap.shard: gap.end for gap in batch.gaps})


async def all_events(store: Store, shard: ShardId = SHARD) -> list[str]:
    """Read a whole stream."""
    found = await store.stream.read_after({shard: START}, limit=100_000)
    return [event.decode() for _, _, event in found]


def bodies(found: Iterable[tuple[str, bytes]]) -> list[bytes]:
    """Return events without their ids."""
    return [body for _, body in found]
