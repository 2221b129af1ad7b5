"""Passes the events of one slot's Stasis app to its node."""

from collections.abc import Callable
from typing import cast

import structlog

from engine.ari.decode import UnknownEvent
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.events import Message
from engine.runtime.pbx_nodes.node import Node
from wire.base import tag_of
from wire.shard import ShardId

log = structlog.get_logger()
UNKNOWN_EVENT = "unknown"  # metric label for event types of a newer Asterisk


class SlotListener:
    """The listener of a slot; implements `EventListener`."""

    def __init__(
        self, node: Node, slot: int, grace_ms: int, on_replaced: Callable[[ShardId], None]
    ) -> None:
        self._node = node
        self._slot = slot
        self._grace_ms = grace_ms
        self._on_replaced = on_replaced
        metrics = node.shards[slot].context.metrics.nodes
        self._events = metrics.events.table(node.name, slot)
        self._disconnects = metrics.disconnects.table(node.name)
        self._log = log.bind(node=node.name, slot=slot)

    def on_connected(self) -> None:
        self._log.info("node connected")
        self._node.on_connected(self._slot)

    def on_event(self, event: Message | UnknownEvent) -> None:
        if isinstance(event, UnknownEvent):
            self._events[UNKNOWN_EVENT] += 1
        else:
            self._events[tag_of(event)] += 1
            self._node.on_event(self._slot, cast("AriEvent", event))

    def on_disconnected(self, reason: str, silent_ms: int) -> None:
        """Pause the slot's calls until the node is connected again."""
        self._log.warning("node disconnected", reason=reason)
        self._disconnects[str(self._slot)] += 1
        self._node.on_disconnected(self._slot, self._grace_ms, silent_ms)

    def on_replaced(self) -> None:
        """Stop at once: another engine owns the shard."""
        self._log.error("app taken over by another engine")
        self._on_replaced(ShardId(self._node.name, self._slot))
