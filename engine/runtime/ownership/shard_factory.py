"""What builds shards and listens for them; the app implements it."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from engine.runtime.cluster.lease import Lease
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer
from wire.shard import ShardId


class ShardFactory(Protocol):
    """Builds shards, and what listens for them."""

    def shard(self, node: Node, slot: int, lease: Lease, writer: Writer) -> CallShard:
        """Build the shard of a slot at a node."""

    def placeholder(self, name: str) -> Node:
        """Build a node that is never connected, for calls whose node is not configured."""

    def listen(
        self, node: Node, slot: int, replaced: Callable[[ShardId], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
