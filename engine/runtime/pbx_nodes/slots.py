"""The slots of a node: the events of their Stasis apps, and how many the dialplan chooses from."""

import asyncio
from collections.abc import Callable
from typing import cast

import structlog

from engine.ari.events import UnknownEvent
from engine.ari.generated.events import Event as AriEvent
from engine.ari.generated.events import Message
from engine.ari.generated.operations import asterisk
from engine.runtime.base.interfaces import Pbx
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


LAST_SLOT = "LAST_SLOT"  # global variable in asterisk-config/etc/extensions.conf
POLL_INTERVAL_S = 1.0
REPEAT_AFTER_S = 60.0  # a reload of the dialplan sets the variable to its configured value


class DialplanSlots:
    """Keeps a node's variable equal to the number of slots per node."""

    def __init__(self, node: str, pbx: Pbx, slots: Callable[[], int]) -> None:
        self._node = node
        self._pbx = pbx
        self._slots = slots
        self._stored_slots = 0

    async def run(self) -> None:
        while True:
            for _ in range(round(REPEAT_AFTER_S / POLL_INTERVAL_S)):
                if self._slots() != self._stored_slots:
                    await self.tell()
                await asyncio.sleep(POLL_INTERVAL_S)
            self._stored_slots = 0

    async def tell(self) -> None:
        """Set the variable; until the node answers, it is set again."""
        slots = self._slots()
        reply = await self._pbx.ask(
            asterisk.set_global_var(variable=LAST_SLOT, value=str(slots - 1))
        )
        if reply.ok:
            self._stored_slots = slots
        else:
            log.info("slots of the dialplan not set", node=self._node, status=reply.status)
