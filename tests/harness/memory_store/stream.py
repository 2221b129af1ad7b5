"""Streams in this process's memory."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TypeVar

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
    entry_order,
)
from wire.shard import ShardId

Id = tuple[int, int]


class GroupPosition:
    """A group's position in one shard."""

    def __init__(self) -> None:
        self.last: Id = (0, 0)
        self.pending: dict[Id, int] = {}  # when each was last delivered
        self.gap: tuple[Id, Id, int] | None = None


class ShardStream:
    """One shard's entries in order, and its groups."""

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.bodies: list[bytes] = []
        self.groups: dict[str, GroupPosition] = {}

    def trim(self, count: int) -> int:
        """Remove the oldest entries; returns how many."""
        if count > 0:
            del self.ids[:count], self.bodies[:count]
        return max(0, count)

    def floor(self, group: GroupPosition) -> Id:
        """Return the first entry that a group has not acknowledged; its last one without any."""
        following = bisect_right(self.ids, group.last)
        newest = self.ids[following] if following < len(self.ids) else group.last
        return min(group.pending, default=newest)

    def after(self, entry: Id, limit: int) -> Iterator[tuple[Id, bytes]]:
        first = bisect_right(self.ids, entry)
        part = slice(first, first + limit)
        return zip(self.ids[part], self.bodies[part], strict=True)

    def body(self, entry: Id) -> bytes | None:
        """Return an entry's event; None when it was trimmed."""
        index = bisect_left(self.ids, entry)
        exists = index < len(self.ids) and self.ids[index] == entry
        return self.bodies[index] if exists else None


_SLACK = 100
_Found = TypeVar("_Found")


class MemoryStream:
    """Implements `Stream`; commits append to it."""

    def __init__(self, now_ms: Callable[[], int], limits: StreamLimits) -> None:
        self._now_ms = now_ms
        self._limits = limits
        self._shards: dict[ShardId, ShardStream] = {}
        self._appended = asyncio.Event()

    def copy(self) -> "MemoryStream":
        """Return a copy with the same entries and groups, as a replica has them."""
        twin = MemoryStream(self._now_ms, self._limits)
        twin._shards = deepcopy(self._shards)
        return twin

    def append(self, shard: ShardId, events: Sequence[bytes]) -> None:
        """Append events to a shard's stream and trim it."""
        if not events:
            return
        stream = self._shard(shard)
        for event in events:
            last_ms, number = stream.ids[-1] if stream.ids else (0, 0)
            now_ms = self._now_ms()
            stream.ids.append((now_ms, 0) if now_ms > last_ms else (last_ms, number + 1))
            stream.bodies.append(event)
        self._appended.set()
        self._trim(stream, self._limits.target_length, self._limits.max_length)

    async def read_after(
        self, after: Mapping[ShardId, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[ShardId, str, bytes]]:
        return await self._wait_for(lambda: self._after(after, limit), wait_ms)

    async def newest_ids(self, shards: Sequence[ShardId]) -> dict[ShardId, str]:
        return {
            shard: _entry_id(ids[-1]) if (ids := self._shard(shard).ids) else START
            for shard in shards
        }

    async def oldest_ids(self, shards: Sequence[ShardId]) -> dict[ShardId, str]:
        return {shard: _entry_id(ids[0]) for shard in shards if (ids := self._shard(shard).ids)}

    async def read_before(self, shard: ShardId, before: str, limit: int) -> list[tuple[str, bytes]]:
        stream = self._shard(shard)
        end = len(stream.ids) if before == "+" else bisect_left(stream.ids, entry_order(before))
        indexes = range(end - 1, max(-1, end - 1 - limit), -1)
        return [(_entry_id(stream.ids[index]), stream.bodies[index]) for index in indexes]

    async def remove(self, shard: ShardId, entries: Sequence[str]) -> int:
        stream = self._shard(shard)
        removed = set(map(entry_order, entries)).intersection(stream.ids)
        for entry in removed:
            index = bisect_left(stream.ids, entry)
            del stream.ids[index], stream.bodies[index]
        return len(removed)

    async def read_group(
        self, consumer: Consumer, shards: Sequence[ShardId], wait_ms: int, limit: int
    ) -> Batch:
        share = max(1, limit // min(len(shards), MAX_PARTS))
        groups = {shard: self._group(shard, consumer.group) for shard in shards}
        due = [
            e for shard, group in groups.items() for e in self._due(shard, group, consumer, share)
        ]
        gaps = tuple(_gap(shard, *group.gap) for shard, group in groups.items() if group.gap)
        wait_ms = 0 if due or gaps else wait_ms
        new = await self._wait_for(lambda: self._new(shards, consumer.group, share), wait_ms)
        return Batch((*due, *new), gaps)

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[ShardId, str]) -> int:
        done = 0
        for shard, ids in entries.items():
            pending = self._existing(shard, group).pending
            done += sum(pending.pop(entry_order(each), None) is not None for each in set(ids))
        for shard, end in gaps.items():
            position = self._existing(shard, group)
            if position.gap is not None and _entry_id(position.gap[1]) == end:
                position.gap = None
                done += 1
        return done

    async def group_states(self, shards: Sequence[ShardId]) -> list[GroupState]:
        return [
            GroupState(
                name,
                shard,
                lag=len(stream.ids) - bisect_right(stream.ids, group.last),
                pending=len(group.pending),
                lost=group.gap[2] if group.gap else 0,
            )
            for shard in shards
            for stream in (self._shard(shard),)
            for name, group in stream.groups.items()
        ]

    async def drop_group(self, group: str, shards: Sequence[ShardId]) -> bool:
        dropped = [self._shard(shard).groups.pop(group, None) for shard in shards]
        return any(each is not None for each in dropped)

    async def trim_old(self, shards: Sequence[ShardId]) -> None:
        """Trim as trim_old.lua does."""
        now_ms, limits = self._now_ms(), self._limits
        for shard in shards:
            stream = self._shard(shard)
            oldest = now_ms - (limits.kept_ms if stream.groups else limits.unread_kept_ms), 0
            lowest = min([oldest, *map(stream.floor, stream.groups.values())])
            stream.trim(bisect_left(stream.ids, lowest))
            if (used := sum(map(len, stream.bodies))) > limits.max_bytes:
                target = len(stream.ids) * limits.max_bytes // used
                self._trim(stream, target, int(target * limits.lag_factor))

    def _shard(self, shard: ShardId) -> ShardStream:
        return self._shards.setdefault(shard, ShardStream())

    def _group(self, shard: ShardId, name: str) -> GroupPosition:
        return self._shard(shard).groups.setdefault(name, GroupPosition())

    def _existing(self, shard: ShardId, name: str) -> GroupPosition:
        return self._shard(shard).groups.get(name) or GroupPosition()

    async def _wait_for(self, found: Callable[[], list[_Found]], wait_ms: int) -> list[_Found]:
        if (entries := found()) or not wait_ms:
            return entries
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while not (entries := found()):
                    self._appended.clear()
                    await self._appended.wait()
        except TimeoutError:
            return []
        return entries

    def _after(self, after: Mapping[ShardId, str], limit: int) -> list[tuple[ShardId, str, bytes]]:
        return [
            (shard, _entry_id(entry), body)
            for shard, since in after.items()
            for entry, body in self._shard(shard).after(entry_order(since), limit)
        ]

    def _due(
        self, shard: ShardId, group: GroupPosition, consumer: Consumer, share: int
    ) -> list[StreamEntry]:
        now_ms, stream = self._now_ms(), self._shard(shard)
        idle = sorted(e for e, at in group.pending.items() if at + consumer.idle_ms <= now_ms)
        found = []
        for each in idle[:share]:
            if (body := stream.body(each)) is None:
                del group.pending[each]
                continue
            group.pending[each] = now_ms
            found.append(StreamEntry(shard, _entry_id(each), body, redelivered=True))
        return found

    def _new(self, shards: Sequence[ShardId], name: str, share: int) -> list[StreamEntry]:
        found, now_ms = [], self._now_ms()
        for shard in shards:
            group = self._group(shard, name)
            for each, body in self._shard(shard).after(group.last, share):
                group.last = each
                group.pending[each] = now_ms
                found.append(StreamEntry(shard, _entry_id(each), body))
        return found

    def _trim(self, stream: ShardStream, target_length: int, max_length: int) -> None:
        """Trim as trim_stream.lua does."""
        length = len(stream.ids)
        if length <= target_length + _SLACK:
            return
        floors = {name: stream.floor(group) for name, group in stream.groups.items()}
        lowest = min(floors.values(), default=stream.ids[-1])
        stream.trim(min(length - target_length, bisect_left(stream.ids, lowest)))
        if len(stream.ids) <= max_length + _SLACK:
            return
        trimmed = stream.trim(len(stream.ids) - max_length)
        first = stream.ids[0]
        for name, group in stream.groups.items():
            if floors[name] < first:
                since, _, lost = group.gap or (floors[name], first, 0)
                group.gap = since, first, lost + trimmed


def _entry_id(entry: Id) -> str:
    return f"{entry[0]}-{entry[1]}"


def _gap(shard: ShardId, first: Id, end: Id, max_lost: int) -> Gap:
    return Gap(shard, _entry_id(first), _entry_id(end), max_lost)
