"""The streams' twin in this process's memory."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TypeVar

from engine.store.stream import (
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

Id = tuple[int, int]


class GroupPosition:
    """How far a group has come in one slot."""

    def __init__(self) -> None:
        self.last: Id = (0, 0)
        self.pending: dict[Id, int] = {}  # when each was delivered last
        self.gap: tuple[Id, Id, int] | None = None

    @property
    def floor(self) -> Id:
        """Before this it has acknowledged everything."""
        return min(self.pending, default=self.last)


class SlotStream:
    """One slot's entries, in order, and its groups."""

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.bodies: list[bytes] = []
        self.groups: dict[str, GroupPosition] = {}

    def trim(self, count: int) -> int:
        """Take the oldest off; returns how many."""
        if count > 0:
            del self.ids[:count], self.bodies[:count]
        return max(0, count)

    def after(self, than: Id, limit: int) -> Iterator[tuple[Id, bytes]]:
        """Give what came after an entry."""
        first = bisect_right(self.ids, than)
        part = slice(first, first + limit)
        return zip(self.ids[part], self.bodies[part], strict=True)

    def body(self, entry: Id) -> bytes | None:
        """Find an entry; None when it was cut off."""
        place = bisect_left(self.ids, entry)
        is_there = place < len(self.ids) and self.ids[place] == entry
        return self.bodies[place] if is_there else None


_SLACK = 100
_Found = TypeVar("_Found")


class MemoryStream:
    """See Stream; `tell` is what a commit does."""

    def __init__(self, now_ms: Callable[[], int], bounds: StreamLimits) -> None:
        self._now_ms = now_ms
        self._bounds = bounds
        self._slots: dict[int, SlotStream] = {}
        self._appended = asyncio.Event()

    def copy(self) -> "MemoryStream":
        """Give another with the same entries and groups, as a replica has them."""
        twin = MemoryStream(self._now_ms, self._bounds)
        twin._slots = deepcopy(self._slots)
        return twin

    def append(self, slot: int, events: Sequence[bytes]) -> None:
        """Put events on a slot's stream, and keep that short."""
        if not events:
            return
        kept = self._slot(slot)
        for event in events:
            last_ms, number = kept.ids[-1] if kept.ids else (0, 0)
            now_ms = self._now_ms()
            kept.ids.append((now_ms, 0) if now_ms > last_ms else (last_ms, number + 1))
            kept.bodies.append(event)
        self._appended.set()
        self._trim(kept)

    async def read_after(
        self, after: Mapping[int, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[int, str, bytes]]:
        """See Stream."""
        return await self._wait_for(lambda: self._after(after, limit), wait_ms)

    async def newest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        """See Stream."""
        return {slot: _name(ids[-1]) if (ids := self._slot(slot).ids) else START for slot in slots}

    async def oldest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        """See Stream."""
        return {slot: _name(ids[0]) for slot in slots if (ids := self._slot(slot).ids)}

    async def read_before(self, slot: int, before: str, limit: int) -> list[tuple[str, bytes]]:
        """See Stream."""
        kept = self._slot(slot)
        end = len(kept.ids) if before == "+" else bisect_left(kept.ids, entry_order(before))
        places = range(end - 1, max(-1, end - 1 - limit), -1)
        return [(_name(kept.ids[place]), kept.bodies[place]) for place in places]

    async def read_group(
        self, reader: Consumer, slots: Sequence[int], wait_ms: int, limit: int
    ) -> Batch:
        """See Stream."""
        share = max(1, limit // len(slots))
        groups = {slot: self._group(slot, reader.group) for slot in slots}
        due = [e for slot, group in groups.items() for e in self._due(slot, group, reader, share)]
        gaps = tuple(_gap(slot, *group.gap) for slot, group in groups.items() if group.gap)
        wait_ms = 0 if due or gaps else wait_ms
        new = await self._wait_for(lambda: self._new(slots, reader.group, share), wait_ms)
        return Batch((*due, *new), gaps)

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[int, str]) -> int:
        """See Stream."""
        done = 0
        for slot, ids in entries.items():
            pending = self._known(slot, group).pending
            done += sum(pending.pop(entry_order(each), None) is not None for each in set(ids))
        for slot, end in gaps.items():
            known = self._known(slot, group)
            if known.gap is not None and _name(known.gap[1]) == end:
                known.gap = None
                done += 1
        return done

    async def group_states(self, slots: Sequence[int]) -> list[GroupState]:
        """See Stream."""
        return [
            GroupState(
                name,
                slot,
                lag=len(kept.ids) - bisect_right(kept.ids, group.last),
                pending=len(group.pending),
                lost=group.gap[2] if group.gap else 0,
            )
            for slot in slots
            for kept in (self._slot(slot),)
            for name, group in kept.groups.items()
        ]

    async def drop_group(self, group: str, slots: Sequence[int]) -> bool:
        """See Stream."""
        known = [self._slot(slot).groups.pop(group, None) for slot in slots]
        return any(each is not None for each in known)

    def _slot(self, slot: int) -> SlotStream:
        return self._slots.setdefault(slot, SlotStream())

    def _group(self, slot: int, name: str) -> GroupPosition:
        return self._slot(slot).groups.setdefault(name, GroupPosition())

    def _known(self, slot: int, name: str) -> GroupPosition:
        return self._slot(slot).groups.get(name) or GroupPosition()

    async def _wait_for(self, found: Callable[[], list[_Found]], wait_ms: int) -> list[_Found]:
        if (there := found()) or not wait_ms:
            return there
        try:
            async with asyncio.timeout(wait_ms / 1000):
                while not (there := found()):
                    self._appended.clear()
                    await self._appended.wait()
        except TimeoutError:
            return []
        return there

    def _after(self, after: Mapping[int, str], limit: int) -> list[tuple[int, str, bytes]]:
        return [
            (slot, _name(entry), body)
            for slot, since in after.items()
            for entry, body in self._slot(slot).after(entry_order(since), limit)
        ]

    def _due(
        self, slot: int, group: GroupPosition, reader: Consumer, share: int
    ) -> list[StreamEntry]:
        now_ms, kept = self._now_ms(), self._slot(slot)
        idle = sorted(e for e, at in group.pending.items() if at + reader.idle_ms <= now_ms)
        found = []
        for each in idle[:share]:
            if (body := kept.body(each)) is None:
                del group.pending[each]
                continue
            group.pending[each] = now_ms
            found.append(StreamEntry(slot, _name(each), body, redelivered=True))
        return found

    def _new(self, slots: Sequence[int], name: str, share: int) -> list[StreamEntry]:
        found, now_ms = [], self._now_ms()
        for slot in slots:
            group = self._group(slot, name)
            for each, body in self._slot(slot).after(group.last, share):
                group.last = each
                group.pending[each] = now_ms
                found.append(StreamEntry(slot, _name(each), body))
        return found

    def _trim(self, kept: SlotStream) -> None:
        """Do what trim_stream.lua does."""
        length, bounds = len(kept.ids), self._bounds
        if length <= bounds.target_length + _SLACK:
            return
        lowest = min((group.floor for group in kept.groups.values()), default=kept.ids[-1])
        kept.trim(min(length - bounds.target_length, bisect_left(kept.ids, lowest)))
        if len(kept.ids) <= bounds.max_length + _SLACK:
            return
        cut = kept.trim(len(kept.ids) - bounds.max_length)
        first = kept.ids[0]
        for group in kept.groups.values():
            if group.floor < first:
                since, _, before = group.gap or (group.floor, first, 0)
                group.gap = since, first, before + cut


def _name(entry: Id) -> str:
    return f"{entry[0]}-{entry[1]}"


def _gap(slot: int, first: Id, end: Id, most: int) -> Gap:
    return Gap(slot, _name(first), _name(end), most)
