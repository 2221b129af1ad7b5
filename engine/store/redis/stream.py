"""Streams in Redis or Valkey: XREAD for readers with their own position, XREADGROUP for groups."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from engine.store.errors import StoreDown
from engine.store.redis.keys import owner_key, slot_key
from engine.store.redis.lua_values import encode
from engine.store.redis.script_connection import ScriptRunner, load_script
from engine.store.stream import (
    START,
    Batch,
    Consumer,
    EntryIds,
    Gap,
    GroupState,
    StreamEntry,
    StreamLimits,
)

_TRIM_OLD = load_script("outbox", "trim_stream", "trim_old")
_FIELD = b"e"
_decode_gap = msgspec.msgpack.Decoder(tuple[str, str, int]).decode


class WithTimeout(Protocol):
    """Awaits a request with a timeout; raises StoreDown."""

    def __call__(self, request: Awaitable[Any], wait_s: float = 0.0) -> Awaitable[Any]:
        """Await a request that may itself block for `wait_s`."""


class RedisStream(Struct, frozen=True):
    """Implements `Stream`; `{sN}:events` is a slot's stream, `{sN}:gaps` has the groups' gaps."""

    client: Redis
    scripts: ScriptRunner
    with_timeout: WithTimeout
    limits: StreamLimits

    async def read_after(
        self, after: Mapping[int, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[int, str, bytes]]:
        streams: dict[Any, Any] = {_stream_key(slot): entry for slot, entry in after.items()}
        read = self.client.xread(streams, count=limit, block=wait_ms or None)
        return _read(after, await self.with_timeout(read, wait_ms / 1000))

    async def newest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        return dict.fromkeys(slots, START) | await self._edges(slots, "xrevrange")

    async def oldest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        return await self._edges(slots, "xrange")

    async def read_before(self, slot: int, before: str, limit: int) -> list[tuple[str, bytes]]:
        until = before if before == "+" else f"({before}"
        found = await self.with_timeout(
            self.client.xrevrange(_stream_key(slot), until, count=limit)
        )
        return [(entry.decode(), fields[_FIELD]) for entry, fields in found]

    async def remove(self, slot: int, entries: Sequence[str]) -> int:
        return int(await self.with_timeout(self.client.xdel(_stream_key(slot), *entries)))

    async def read_group(
        self, consumer: Consumer, slots: Sequence[int], wait_ms: int, limit: int
    ) -> Batch:
        share = max(1, limit // len(slots))
        while (claimed := await self._claim_idle(consumer, slots, share)) is None:
            await self._create_group(consumer.group, slots)
        entries = await self._read_new(consumer, slots, 0 if claimed != Batch() else wait_ms, share)
        return Batch((*claimed.entries, *entries), claimed.gaps)

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[int, str]) -> int:
        stored = await self._read_gaps(group, tuple(gaps)) if gaps else ()
        pipeline = self.client.pipeline(transaction=False)
        for slot, ids in entries.items():
            pipeline.xack(_stream_key(slot), group, *ids)
        for gap in stored:
            if gap.end == gaps[gap.slot]:  # the gap has not grown meanwhile
                pipeline.hdel(_gaps_key(gap.slot), group)
        return sum(await self.with_timeout(pipeline.execute()))

    async def group_states(self, slots: Sequence[int]) -> list[GroupState]:
        pipeline = self.client.pipeline(transaction=False)
        for slot in slots:
            pipeline.xinfo_groups(_stream_key(slot))
            pipeline.xlen(_stream_key(slot))
            pipeline.hgetall(_gaps_key(slot))
        # A slot without any event has no stream.
        found = await self.with_timeout(pipeline.execute(raise_on_error=False))
        return [
            _state(slot, group, length, lost)
            for slot, groups, length, lost in zip(
                slots, found[::3], found[1::3], found[2::3], strict=True
            )
            if not isinstance(groups, ResponseError)
            for group in groups
        ]

    async def drop_group(self, group: str, slots: Sequence[int]) -> bool:
        pipeline = self.client.pipeline(transaction=False)
        for slot in slots:
            pipeline.xgroup_destroy(_stream_key(slot), group)
            pipeline.hdel(_gaps_key(slot), group)
        found = await self.with_timeout(pipeline.execute(raise_on_error=False))
        return any(each == 1 for each in found[::2])

    async def trim_old(self, slots: Sequence[int]) -> None:
        ages = encode((self.limits.kept_ms, self.limits.unread_kept_ms))
        runs = (self.scripts.run(_TRIM_OLD, owner_key(slot), ages) for slot in slots)
        await asyncio.gather(*runs)

    async def _claim_idle(
        self, consumer: Consumer, slots: Sequence[int], share: int
    ) -> Batch | None:
        """Claim entries that were not acknowledged in time; None when the group is unknown."""
        pipeline = self.client.pipeline(transaction=False)
        for slot in slots:
            pipeline.xautoclaim(
                _stream_key(slot), consumer.group, consumer.consumer, consumer.idle_ms, count=share
            )
        results = await self.with_timeout(pipeline.execute(raise_on_error=False))
        if _is_unknown_group(results):
            return None
        entries = tuple(
            StreamEntry(slot, entry.decode(), fields[_FIELD], redelivered=True)
            for slot, result in zip(slots, results, strict=True)
            for entry, fields in result[1]
            if fields  # not trimmed meanwhile
        )
        return Batch(entries, await self._read_gaps(consumer.group, slots))

    async def _read_new(
        self, consumer: Consumer, slots: Sequence[int], wait_ms: int, share: int
    ) -> list[StreamEntry]:
        streams: dict[Any, Any] = {_stream_key(slot): ">" for slot in slots}
        read = self.client.xreadgroup(
            consumer.group, consumer.consumer, streams, count=share, block=wait_ms or None
        )
        found = await self.with_timeout(read, wait_ms / 1000)
        return [StreamEntry(*each) for each in _read(slots, found)]

    async def _create_group(self, group: str, slots: Sequence[int]) -> None:
        pipeline = self.client.pipeline(transaction=False)
        for slot in slots:
            pipeline.xgroup_create(_stream_key(slot), group, START, mkstream=True)
        found = await self.with_timeout(pipeline.execute(raise_on_error=False))
        for each in found:
            if isinstance(each, ResponseError) and not str(each).startswith("BUSYGROUP"):
                raise StoreDown(str(each))

    async def _read_gaps(self, group: str, slots: Sequence[int]) -> tuple[Gap, ...]:
        pipeline = self.client.pipeline(transaction=False)
        for slot in slots:
            pipeline.hget(_gaps_key(slot), group)
        found = await self.with_timeout(pipeline.execute())
        return tuple(
            Gap(slot, *_decode_gap(body))
            for slot, body in zip(slots, found, strict=True)
            if body is not None
        )

    async def _edges(self, slots: Sequence[int], command: str) -> dict[int, str]:
        pipeline = self.client.pipeline(transaction=False)
        for slot in slots:
            getattr(pipeline, command)(_stream_key(slot), count=1)
        found = await self.with_timeout(pipeline.execute())
        return {
            slot: entries[0][0].decode()
            for slot, entries in zip(slots, found, strict=True)
            if entries
        }


def _stream_key(slot: int) -> str:
    return slot_key(slot, "events")


def _gaps_key(slot: int) -> str:
    return slot_key(slot, "gaps")


def _read(slots: Sequence[int] | Mapping[int, str], found: Any) -> list[tuple[int, str, bytes]]:
    by_key = {_stream_key(slot).encode(): slot for slot in slots}
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
    slot: int, group: Mapping[str, Any], length: int, lost: Mapping[bytes, bytes]
) -> GroupState:
    name: bytes = group["name"]
    gap = lost.get(name)
    lag: int | None = group.get("lag")  # unknown after some deletions, and before Redis 7
    return GroupState(
        group=name.decode(),
        slot=slot,
        lag=length if lag is None else lag,
        pending=group["pending"],
        lost=_decode_gap(gap)[2] if gap else 0,
    )
