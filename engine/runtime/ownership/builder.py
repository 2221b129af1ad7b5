"""How desks are made and listened for, as the slots that they stand in ask for it."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from engine.runtime.cluster.lease import Lease
from engine.runtime.nodes.node import Node
from engine.runtime.shard.shard import Desk
from engine.store.writer import Writer


class Builder(Protocol):
    """How a slot's desk at a node is made, and how its events are heard."""

    def desk(self, node: Node, slot: int, lease: Lease, writer: Writer) -> Desk:
        """Make a desk."""

    async def watching(self, node: Node, slot: int) -> None:
        """Know which agents are registered at a node, until cancelled, as who has a slot."""

    def hearing(
        self, node: Node, slot: int, replaced: Callable[[int], None]
    ) -> Coroutine[Any, Any, None]:
        """Listen to a slot's app until cancelled, or until another engine does."""
