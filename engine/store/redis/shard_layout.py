"""The layout of shards in Redis or Valkey, and the calls of requests."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from engine.store.redis.pool import TimedRequests
from engine.store.shard_layout import ShardLayout

_RESERVE = (Path(__file__).parent / "lua/reserve_request.lua").read_text()
_LAYOUT = "shards"  # slots per node, and the highest number there was
_NODES = "shards:nodes"
_SLOTS, _HIGHEST = "slots", "highest"


class RedisShardLayout:
    """The part of the store that says which shards there are."""

    _client: Redis
    _with_timeout: TimedRequests
    _retention_ms: int

    async def shard_layout(self) -> ShardLayout:
        reads = self._client.pipeline(transaction=False)
        reads.hmget(_LAYOUT, _SLOTS, _HIGHEST)
        reads.smembers(_NODES)
        (slots, highest), nodes = await self._with_timeout(reads.execute())
        names = tuple(sorted(node.decode() for node in nodes))
        return ShardLayout(int(slots or 0), max(int(slots or 0), int(highest or 0)), names)

    async def add_nodes(self, nodes: Collection[str], slots: int, highest: int = 0) -> int:
        if highest > (await self.shard_layout()).highest:
            await self._with_timeout(self._client.hset(_LAYOUT, _HIGHEST, str(highest)))
        writes = self._client.pipeline(transaction=False)
        if nodes:
            writes.sadd(_NODES, *nodes)
        writes.hsetnx(_LAYOUT, _SLOTS, str(slots))
        writes.hget(_LAYOUT, _SLOTS)
        *_, stored = await self._with_timeout(writes.execute())
        return int(stored)

    async def set_slots(self, slots: int) -> None:
        before = await self.shard_layout()
        layout = {_SLOTS: str(slots), _HIGHEST: str(max(before.highest, slots))}
        await self._with_timeout(self._client.hset(_LAYOUT, mapping=dict[Any, Any](layout)))

    async def request_of(self, request_id: str) -> str | None:
        call: bytes | None = await self._with_timeout(self._client.get(_request_key(request_id)))
        return None if call is None else call.decode()

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        arguments = (call_id, instead_of, str(self._retention_ms))
        reserve = self._client.eval(_RESERVE, 1, _request_key(request_id), *arguments)
        return str(await self._with_timeout(reserve), "utf-8")


def _request_key(request_id: str) -> str:
    return f"request:{request_id}"
