"""Listening to one desk's Stasis app: what the ARI session tells goes to the node."""

from collections.abc import Callable
from typing import cast

import structlog

from engine.ari.decode import UnknownEvent
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.events import Message
from engine.runtime.nodes.node import Node
from wire.base import tag_of

log = structlog.get_logger()
UNKNOWN_EVENT = "unknown"  # counts what a newer Asterisk sends


class SlotListener:
    """The listener of one (node, slot)."""

    def __init__(
        self, node: Node, slot: int, grace_ms: int, replaced: Callable[[int], None]
    ) -> None:
        self._node = node
        self._slot = slot
        self._grace_ms = grace_ms
        self._replaced = replaced
        meter = node.shards[slot].context.meter.nodes
        self._heard = meter.events.table(node.name, slot)
        self._away = meter.disconnects.table(node.name)
        self._log = log.bind(node=node.name, slot=slot)

    def on_connected(self) -> None:
        """Recover what was missed."""
        self._log.info("node back")
        self._node.on_connected(self._slot)

    def on_event(self, event: Message | UnknownEvent) -> None:
        """Pass an event on."""
        if isinstance(event, UnknownEvent):
            self._heard[UNKNOWN_EVENT] += 1
        else:
            self._heard[tag_of(event)] += 1
            self._node.on_event(self._slot, cast("AriEvent", event))

    def on_disconnected(self, reason: str) -> None:
        """Hold the calls until it is back."""
        self._log.warning("node away", reason=reason)
        self._away[str(self._slot)] += 1
        self._node.on_disconnected(self._slot, self._grace_ms)

    def on_replaced(self) -> None:
        """Stop at once: the slot is another engine's."""
        self._log.error("app taken over by another engine")
        self._replaced(self._slot)
