"""Shards of one node, for tests."""

from wire.shard import ShardId

NODE = "pbx1"


def at(slot: int) -> ShardId:
    """Return the shard of a slot."""
    return ShardId(NODE, slot)


SHARD = at(3)
