"""Measures how long shards have no owner, by polling the store every few milliseconds."""

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from tests.harness.monotonic import now_ms
from tests.harness.servers.cluster import read_owners
from wire.shard import ShardId

POLL_INTERVAL_S = 0.01
TIMEOUT_S = 0.25


class OwnerWatch:
    """Watches owners; an engine in `dead_pids` does not count, even with a valid lease."""

    def __init__(self, url: str, shards: Sequence[ShardId], dead_pids: AbstractSet[int]) -> None:
        self.longest_ms = 0.0
        self._url = url
        self._shards = shards
        self._dead_pids = dead_pids
        self._owned_ms = dict.fromkeys(self._shards, now_ms())

    async def run(self) -> None:
        """Poll until cancelled; time without answers of the store is not counted."""
        client = Redis.from_url(
            self._url, socket_timeout=TIMEOUT_S, retry=Retry(NoBackoff(), 0), protocol=2
        )
        try:
            while True:
                await self._poll(client)
                await asyncio.sleep(POLL_INTERVAL_S)
        finally:
            await client.aclose()

    async def _poll(self, client: Redis) -> None:
        try:
            owners = await read_owners(client, self._shards)
        except (RedisError, OSError):
            self._owned_ms = dict.fromkeys(self._shards, now_ms())
            return
        polled_ms = now_ms()
        for shard in self._shards:
            if owners.get(shard, 0) in {0, *self._dead_pids}:
                self.longest_ms = max(self.longest_ms, polled_ms - self._owned_ms[shard])
            else:
                self._owned_ms[shard] = polled_ms
