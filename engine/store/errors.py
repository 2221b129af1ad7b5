"""Errors of the store."""

from wire.shard import ShardId


class StoreDown(Exception):
    """The store cannot be reached or cannot write; the same request may be repeated.

    The message may name the server and its error, for the log; `detail` is for clients.
    """

    def __init__(self, message: str, detail: str = "the store can't be used now") -> None:
        super().__init__(message)
        self.detail = detail


class Fenced(Exception):
    """The shard has a newer owner; the previous one must stop sending commands at once."""

    def __init__(self, shard: ShardId, owner: str) -> None:
        super().__init__(f"shard {shard} belongs to {owner or 'no engine'}")
        self.shard = shard
        self.owner = owner


class CommitsLost(Exception):
    """The lease is valid, but the store lost commits of the shard: it failed over, or crashed."""


class Overflow(Exception):
    """More changes wait for their commit than the limit allows."""
