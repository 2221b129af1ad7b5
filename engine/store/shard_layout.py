"""Which shards exist: the PBX nodes that engines have had, and the number of slots per node."""

from functools import cached_property

from msgspec import Struct

from wire.shard import ShardId


class SlotsMismatch(Exception):
    """An engine is configured with another number of slots per node than the store has."""

    def __init__(self, configured: int, stored: int) -> None:
        super().__init__(
            f"SWITCHROOM_SLOTS is {configured}, but this cluster has {stored} slots per node:"
            f" set SWITCHROOM_SLOTS={stored}, or change the cluster with `switchroom slots`"
        )


class ShardLayout(Struct, frozen=True, dict=True):
    """All known nodes have the same slots.

    New calls get one of the first `slots`. There were up to `highest`: the others are retired, and
    exist until their last call has ended and nothing about it is kept.
    """

    slots: int = 0
    highest: int = 0
    nodes: tuple[str, ...] = ()

    @cached_property
    def shards(self) -> tuple[ShardId, ...]:
        """All shards that may have data, in order."""
        return tuple(ShardId(node, slot) for node in self.nodes for slot in range(self.highest))

    def has(self, shard: ShardId) -> bool:
        return shard.slot < self.highest and shard.node in self.nodes

    def is_retired(self, shard: ShardId) -> bool:
        """Whether a shard gets no new calls."""
        return shard.slot >= self.slots


class Workload(Struct, frozen=True):
    """How many calls of a shard are live, and how many calls have undelivered callbacks."""

    calls: int
    callbacks: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.calls or self.callbacks)
