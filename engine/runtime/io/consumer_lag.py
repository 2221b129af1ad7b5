"""How the groups stand that read the events of this engine's slots: counted, and losses cried out.

Each engine tells of its own slots, so that the sum over engines is the whole.
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
    """Looks now and then."""

    def __init__(
        self, stream: Stream, slots: Callable[[], Collection[int]], meter: Metrics
    ) -> None:
        self._stream = stream
        self._slots = slots
        self._counts = meter.consumer_groups
        self._lost: dict[tuple[str, int], int] = {}

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            try:
                await self.poll()
            except StoreDown as error:
                log.info("groups of readers not seen", error=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def poll(self) -> None:
        """Count what waits; raises StoreDown."""
        slots = sorted(self._slots())
        states = await self._stream.group_states(slots) if slots else []
        self._counts.update((each.group, each.lag, each.pending, each.lost) for each in states)
        for each in states:
            self._cry(each)
        self._lost = {(each.group, each.slot): each.lost for each in states}

    def _cry(self, state: GroupState) -> None:
        if state.lost > self._lost.get((state.group, state.slot), 0):
            log.error("events lost to a group", group=state.group, slot=state.slot, most=state.lost)
