"""Names of a shard's keys: all have its hash tag, so that they lie on one server of a cluster."""

from wire.shard import ShardId


def shard_key(shard: ShardId, kind: str, name: str | None = None) -> str:
    """Return the key of a shard's data of a kind, or of one call or account in it."""
    tag = f"{{{shard.node}:{shard.slot}}}"
    return f"{tag}:{kind}:{name}" if name is not None else f"{tag}:{kind}"


def owner_key(shard: ShardId) -> str:
    """Return the key of a shard's owner, which names the shard in every script."""
    return shard_key(shard, "owner")
