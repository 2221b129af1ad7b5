"""Event streams: one for each shard, read from an entry id or by a consumer group.

Each event goes to one consumer of a group, and is redelivered to another until one of them
acknowledges it. Events that a group has not acknowledged are trimmed only above `max_length`.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from wire.shard import ShardId

MAX_PARTS = 16  # of a read: a shard has at least this part, however many shards there are
START = "0-0"  # before the oldest entry
EntryIds = Mapping[ShardId, Sequence[str]]  # by shard


class StreamEntry(Struct, frozen=True):
    """One event on a shard's stream; `redelivered`: an earlier delivery was not acknowledged."""

    shard: ShardId
    id: str
    event: bytes
    redelivered: bool = False


class Gap(Struct, frozen=True):
    """Entries that a group lost because the stream reached its maximum length.

    From `first` on, up to and without `end`; at most `max_lost` events.
    """

    shard: ShardId
    first: str
    end: str
    max_lost: int


class Batch(Struct, frozen=True):
    """What a consumer receives, to be acknowledged."""

    entries: tuple[StreamEntry, ...] = ()
    gaps: tuple[Gap, ...] = ()


class GroupState(Struct, frozen=True):
    """A group's position in one shard: undelivered, unacknowledged and lost entries."""

    group: str
    shard: ShardId
    lag: int
    pending: int
    lost: int  # at most, and not acknowledged


class StreamLimits(Struct, frozen=True, array_like=True):
    """Approximate lengths of a shard's stream: the target, and the maximum while a group lags.

    And how long events are kept that every group has acknowledged, or that no group reads, and
    what they may take of the store's memory: as much more while a group lags as the lengths say.
    """

    target_length: int = 100_000
    max_length: int = 400_000
    kept_ms: int = 3_600_000
    unread_kept_ms: int = 86_400_000
    max_bytes: int = 67_108_864

    @property
    def lag_factor(self) -> float:
        """How much larger than its target a stream may be while a group lags."""
        return self.max_length / self.target_length


DEFAULT_STREAM_LIMITS = StreamLimits()


class Consumer(Struct, frozen=True):
    """One consumer of a group; others' entries go to it after `idle_ms` unacknowledged."""

    group: str
    consumer: str
    idle_ms: int = 30_000


class Stream(Protocol):
    """The streams of all shards; every method may raise StoreDown."""

    async def read_after(
        self, after: Mapping[ShardId, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[ShardId, str, bytes]]:
        """Read events after an entry of each shard (START: from the oldest kept).

        Waits up to `wait_ms` for the first; returns shard, entry id and event, in order within a
        shard. Continue from the last id of each shard.
        """

    async def newest_ids(self, shards: Sequence[ShardId]) -> dict[ShardId, str]:
        """Read each shard's newest entry id, from which `read_after` reads only later events."""

    async def oldest_ids(self, shards: Sequence[ShardId]) -> dict[ShardId, str]:
        """Read each shard's oldest entry id; a shard without entries is left out."""

    async def read_before(self, shard: ShardId, before: str, limit: int) -> list[tuple[str, bytes]]:
        """Read events before an entry of a shard, the latest first; `+`: from the end."""

    async def remove(self, shard: ShardId, entries: Sequence[str]) -> int:
        """Remove entries of a shard, read or not; returns how many there were."""

    async def read_group(
        self, consumer: Consumer, shards: Sequence[ShardId], wait_ms: int, limit: int
    ) -> Batch:
        """Read for a group; a new group begins at the oldest entry kept.

        Redeliveries and gaps come first; without them, waits up to `wait_ms` for the first event.
        """

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[ShardId, str]) -> int:
        """Acknowledge entries, and gaps by their `end`; returns how many."""

    async def group_states(self, shards: Sequence[ShardId]) -> list[GroupState]:
        """Read every group's position in each shard."""

    async def drop_group(self, group: str, shards: Sequence[ShardId]) -> bool:
        """Delete a group; False when it is unknown."""

    async def trim_old(self, shards: Sequence[ShardId]) -> None:
        """Remove events that have been kept for long enough or are too large together, about."""


def entry_order(entry: str) -> tuple[int, int]:
    """Return the sort key of an entry id."""
    at_ms, _, number = entry.partition("-")
    return int(at_ms), int(number or 0)
