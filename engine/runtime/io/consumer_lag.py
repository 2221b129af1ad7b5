"""Metrics of the consumer groups that read this engine's slots; logs events they have lost.

Each engine reports its own slots, so that the sum over engines covers all slots.
"""

import asyncio
from collections.abc import Callable, Collection

import structlog

from engine.observe.metrics import Metrics
from engine.store.errors import StoreDown
from engine.store.stream import GroupState, Stream

log = structlog.get_logger()
POLL_INTERVAL_S = 5.0


class ConsumerLag:
    """Polls the state of the consumer groups."""

    def __init__(
        self, stream: Stream, slots: Callable[[], Collection[int]], metrics: Metrics
    ) -> None:
        self._stream = stream
        self._slots = slots
        self._counts = metrics.consumer_groups
        self._lost: dict[tuple[str, int], int] = {}

    async def run(self) -> None:
        while True:
            try:
                await self.poll()
            except StoreDown as error:
                log.info("consumer groups not read", error=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def poll(self) -> None:
        """Update the metrics; raises StoreDown."""
        slots = sorted(self._slots())
        states = await self._stream.group_states(slots) if slots else []
        self._counts.update((each.group, each.lag, each.pending, each.lost) for each in states)
        for each in states:
            self._log_loss(each)
        self._lost = {(each.group, each.slot): each.lost for each in states}

    def _log_loss(self, state: GroupState) -> None:
        if state.lost > self._lost.get((state.group, state.slot), 0):
            log.error(
                "events lost to a group", group=state.group, slot=state.slot, max_lost=state.lost
            )
