"""Metrics of the consumer groups that read this engine's shards; logs events they have lost.

Each engine reports its own shards, so that the sum over engines covers all shards.
"""

import asyncio
from collections.abc import Callable, Collection

import structlog

from engine.observe.metrics import Metrics
from engine.store.errors import StoreDown
from engine.store.stream import GroupState, Stream
from wire.shard import ShardId

log = structlog.get_logger()
POLL_INTERVAL_S = 5.0


class ConsumerLag:
    """Polls the state of the consumer groups."""

    def __init__(
        self, stream: Stream, shards: Callable[[], Collection[ShardId]], metrics: Metrics
    ) -> None:
        self._stream = stream
        self._shards = shards
        self._counts = metrics.consumer_groups
        self._lost: dict[tuple[str, ShardId], int] = {}

    async def run(self) -> None:
        while True:
            try:
                await self.poll()
            except StoreDown as error:
                log.info("consumer groups not read", error=str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def poll(self) -> None:
        """Update the metrics; raises StoreDown."""
        shards = sorted(self._shards())
        states = await self._stream.group_states(shards) if shards else []
        self._counts.update((each.group, each.lag, each.pending, each.lost) for each in states)
        for each in states:
            self._log_loss(each)
        self._lost = {(each.group, each.shard): each.lost for each in states}

    def _log_loss(self, state: GroupState) -> None:
        if state.lost > self._lost.get((state.group, state.shard), 0):
            log.error(
                "events lost to a group",
                group=state.group,
                shard=str(state.shard),
                max_lost=state.lost,
            )
