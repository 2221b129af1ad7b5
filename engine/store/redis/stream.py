"""Streams in Redis or Valkey: XREAD for readers with their own position, XREADGROUP for groups."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from engine.store.errors import StoreDown
from engine.store.redis.script_connection import (
    ScriptRunner,
    encode,
    load_script,
    owner_key,
    shard_key,
)
from engine.store.stream import (
    MAX_PARTS,
    START,
    Batch,
    Consumer,
    EntryIds,
    Gap,
    GroupState,
    StreamEntry,
    StreamLimits,
)
from wire.shard import ShardId

_TRIM_OLD = load_script("outbox", "trim_stream", "trim_old")
_FIELD = b"e"
_decode_gap = msgspec.msgpack.Decoder(tuple[str, str, int]).decode


class WithTimeout(Protocol):
    """Awaits a request with a timeout; raises StoreDown."""

    def __call__(self, request: Awaitable[Any], wait_s: float = 0.0) -> Awaitable[Any]:
        """Await a request that may itself block for `wait_s`."""


class RedisStream(Struct, frozen=True):
    """Implements `Stream`; `…:events` is a shard's stream, `…:gaps` has the groups' gaps."""

    client: Redis
    scripts: ScriptRunner
    with_timeout: WithTimeout
    limits: StreamLimits

    async def read_after(
        self, after: Mapping[ShardId, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[ShardId, str, bytes]]:
        streams: dict[Any, Any] = {_stream_key(shard): entry for shard, entry in after.items()}
        read = self.client.xread(streams, count=limit, block=wait_ms or None)
        return _read(after, await self.with_timeout(read, wait_ms / 1000))

    async def newest_ids(self, shards: Sequence[ShardId]) -> dict[ShardId, str]:
        return dict.fromkeys(shards, START) | await self._edges(shards, "xrevrange")

    async def oldest_ids(self, shards: Sequence[ShardId]) -> dict[ShardId, str]:
        return await self._edges(shards, "xrange")

    async def read_before(self, shard: ShardId, before: str, limit: int) -> list[tuple[str, bytes]]:
        until = before if before == "+" else f"({before}"
        found = await self.with_timeout(
            self.client.xrevrange(_stream_key(shard), until, count=limit)
        )
        return [(entry.decode(), fields[_FIELD]) for entry, fields in found]

    async def remove(self, shard: ShardId, entries: Sequence[str]) -> int:
        return int(await self.with_timeout(self.client.xdel(_stream_key(shard), *entries)))

    async def read_group(
        self, consumer: Consumer, shards: Sequence[ShardId], wait_ms: int, limit: int
    ) -> Batch:
        share = max(1, limit // min(len(shards), MAX_PARTS))
        while (claimed := await self._claim_idle(consumer, shards, share)) is None:
            await self._create_group(consumer.group, shards)
        entries = await self._read_new(
            consumer, shards, 0 if claimed != Batch() else wait_ms, share
        )
        return Batch((*claimed.entries, *entries), claimed.gaps)

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[ShardId, str]) -> int:
        stored = await self._read_gaps(group, tuple(gaps)) if gaps else ()
        pipeline = self.client.pipeline(transaction=False)
        for shard, ids in entries.items():
            pipeline.xack(_stream_key(shard), group, *ids)
        for gap in stored:
            if gap.end == gaps[gap.shard]:  # the gap has not grown meanwhile
                pipeline.hdel(_gaps_key(gap.shard), group)
        return sum(await self.with_timeout(pipeline.execute()))

    async def group_states(self, shards: Sequence[ShardId]) -> list[GroupState]:
        pipeline = self.client.pipeline(transaction=False)
        for shard in shards:
            pipeline.xinfo_groups(_stream_key(shard))
            pipeline.xlen(_stream_key(shard))
            pipeline.hgetall(_gaps_key(shard))
        # A shard without any event has no stream.
        found = await self.with_timeout(pipeline.execute(raise_on_error=False))
        return [
            _state(shard, group, length, lost)
            for shard, groups, length, lost in zip(
                shards, found[::3], found[1::3], found[2::3], strict=True
            )
            if not isinstance(groups, ResponseError)
            for group in groups
        ]

    async def drop_group(self, group: str, shards: Sequence[ShardId]) -> bool:
        pipeline = self.client.pipeline(transaction=False)
        for shard in shards:
            pipeline.xgroup_destroy(_stream_key(shard), group)
            pipeline.hdel(_gaps_key(shard), group)
        found = await self.with_timeout(pipeline.execute(raise_on_error=False))
        return any(each == 1 for each in found[::2])

    async def trim_old(self, shards: Sequence[ShardId]) -> None:
        limits = self.limits
        values = limits.kept_ms, limits.unread_kept_ms, limits.max_bytes, limits.lag_factor
        argument = encode(values)
        runs = (self.scripts.run(_TRIM_OLD, owner_key(shard), argument) for shard in shards)
        await asyncio.gather(*runs)

    async def _claim_idle(
        self, consumer: Consumer, shards: Sequence[ShardId], share: int
    ) -> Batch | None:
        """Claim entries that were not acknowledged in time; None when the group is unknown."""
        pipeline = self.client.pipeline(transaction=False)
        for shard in shards:
            pipeline.xautoclaim(
                _stream_key(shard), consumer.group, consumer.consumer, consumer.idle_ms, count=share
            )
        results = await self.with_timeout(pipeline.execute(raise_on_error=False))
        if _is_unknown_group(results):
            return None
        entries = tuple(
            StreamEntry(shard, entry.decode(), fields[_FIELD], redelivered=True)
            for shard, result in zip(shards, results, strict=True)
            for entry, fields in result[1]
            if fields  # not trimmed meanwhile
        )
        return Batch(entries, await self._read_gaps(consumer.group, shards))

    async def _read_new(
        self, consumer: Consumer, shards: Sequence[ShardId], wait_ms: int, share: int
    ) -> list[StreamEntry]:
        streams: dict[Any, Any] = {_stream_key(shard): ">" for shard in shards}
        read = self.client.xreadgroup(
            consumer.group, consumer.consumer, streams, count=share, block=wait_ms or None
        )
        found = await self.with_timeout(read, wait_ms / 1000)
        return [StreamEntry(*each) for each in _read(shards, found)]

    async def _create_group(self, group: str, shards: Sequence[ShardId]) -> None:
        pipeline = self.client.pipeline(transaction=False)
        for shard in shards:
            pipeline.xgroup_create(_stream_key(shard), group, START, mkstream=True)
        found = await self.with_timeout(pipeline.execute(raise_on_error=False))
        for each in found:
            if isinstance(each, ResponseError) and not str(each).startswith("BUSYGROUP"):
                raise StoreDown(str(each))

    async def _read_gaps(self, group: str, shards: Sequence[ShardId]) -> tuple[Gap, ...]:
        pipeline = self.client.pipeline(transaction=False)
        for shard in shards:
            pipeline.hget(_gaps_key(shard), group)
        found = await self.with_timeout(pipeline.execute())
        return tuple(
            Gap(shard, *_decode_gap(body))
            for shard, body in zip(shards, found, strict=True)
            if body is not None
        )

    async def _edges(self, shards: Sequence[ShardId], command: str) -> dict[ShardId, str]:
        pipeline = self.client.pipeline(transaction=False)
        for shard in shards:
            getattr(pipeline, command)(_stream_key(shard), count=1)
        found = await self.with_timeout(pipeline.execute())
        return {
            shard: entries[0][0].decode()
            for shard, entries in zip(shards, found, strict=True)
            if entries
        }


def _stream_key(shard: ShardId) -> str:
    return shard_key(shard, "events")


def _gaps_key(shard: ShardId) -> str:
    return shard_key(shard, "gaps")


def _read(
    shards: Sequence[ShardId] | Mapping[ShardId, str], found: Any
) -> list[tuple[ShardId, str, bytes]]:
    by_key = {_stream_key(shard).encode(): shard for shard in shards}
    return [
        (by_key[key], entry.decode(), fields[_FIELD])
        for key, entries in found
        for entry, fields in entries
    ]


def _is_unknown_group(results: Sequence[Any]) -> bool:
    """Return whether the group must be created; raises StoreDown for any other error."""
    errors = [each for each in results if isinstance(each, ResponseError)]
    for error in errors:
        if not str(error).startswith("NOGROUP"):
            raise StoreDown(str(error))
    return bool(errors)


def _state(
    shard: ShardId, group: Mapping[str, Any], length: int, lost: Mapping[bytes, bytes]
) -> GroupState:
    name: bytes = group["name"]
    gap = lost.get(name)
    lag: int | None = group.get("lag")  # unknown after some deletions, and before Redis 7
    return GroupState(
        group=name.decode(),
        shard=shard,
        lag=length if lag is None else lag,
        pending=group["pending"],
        lost=_decode_gap(gap)[2] if gap else 0,
    )
