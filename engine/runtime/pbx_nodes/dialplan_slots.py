"""Tells a node's dialplan how many slots get new calls: it chooses one for each inbound call."""

import asyncio
from collections.abc import Callable

import structlog

from engine.ari.generated.operations import asterisk
from engine.runtime.base.interfaces import Pbx

log = structlog.get_logger()
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
