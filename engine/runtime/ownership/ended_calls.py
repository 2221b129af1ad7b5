"""Compresses this engine's ended calls, and removes old events, in the background.

The store knows which calls are left to compress, so the next owner of a shard continues.
"""

import asyncio
from collections.abc import Callable, Mapping

import structlog

from engine.store.compressed_call import DICTIONARY
from engine.store.errors import StoreDown
from engine.store.store import Store
from wire.shard import ShardId

log = structlog.get_logger()
INTERVAL_S = 5.0
PAUSE_S = 0.1  # between two batches, so that live calls get most of the CPU
AFTER_MS = 50_000  # a commit of a call's end is repeated for seconds, not longer
BATCH_SIZE = 32  # calls of a shard
TRIM_EVERY = 12  # intervals: a minute


class EndedCallCompressor:
    """Polls the held shards; `tokens` returns them with their fencing tokens.

    `dictionary` returns the newest one that all live engines have; 0: one of them has none.
    """

    def __init__(
        self,
        store: Store,
        tokens: Callable[[], Mapping[ShardId, int]],
        dictionary: Callable[[], int],
    ) -> None:
        self._store = store
        self._tokens = tokens
        self._dictionary = dictionary

    async def run(self) -> None:
        number = 0
        while True:
            await asyncio.sleep(INTERVAL_S)
            number += 1
            try:
                await self.compress()
                if number % TRIM_EVERY == 0:
                    await self._store.stream.trim_old(sorted(self._tokens()))
            except StoreDown as error:
                log.info("ended calls not compressed", error=str(error))

    async def compress(self) -> None:
        """Compress all calls that are due; raises StoreDown."""
        while (tokens := self._tokens()) and (dictionary := min(self._dictionary(), DICTIONARY)):
            if not await self._store.compress_ended(tokens, AFTER_MS, BATCH_SIZE, dictionary):
                return
            await asyncio.sleep(PAUSE_S)
