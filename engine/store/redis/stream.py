"""The streams in Redis: XREAD for who keeps its own place, XREADGROUP for groups."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from engine.store.errors import StoreDown
from engine.store.stream import START, Batch, Consumer, EntryIds, Gap, GroupState, StreamEntry

_FIELD = b"e"
_gap = msgspec.msgpack.Decoder(tuple[str, str, int]).decode


class WithTimeout(Protocol):
    """Asks within a time; raises StoreDown."""

    def __call__(self, request: Awaitable[Any], wait_s: float = 0.0) -> Awaitable[Any]:
        """Ask; `wait_s` is what the request itself may wait."""


class RedisStream:
    """See Stream; `{sN}:events` is a slot's stream, `{sN}:gaps` what groups have lost there."""

    def __init__(self, client: Redis, bounded: WithTimeout) -> None:
        self._client = client
        self._with_timeout = bounded

    async def read_after(
        self, after: Mapping[int, str], wait_ms: int = 0, limit: int = 1000
    ) -> list[tuple[int, str, bytes]]:
        """See Stream."""
        streams: dict[Any, Any] = {_events(slot): entry for slot, entry in after.items()}
        read = self._client.xread(streams, count=limit, block=wait_ms or None)
        return _read(after, await self._with_timeout(read, wait_ms / 1000))

    async def newest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        """See Stream."""
        return dict.fromkeys(slots, START) | await self._edges(slots, "xrevrange")

    async def oldest_ids(self, slots: Sequence[int]) -> dict[int, str]:
        """See Stream."""
        return await self._edges(slots, "xrange")

    async def read_before(self, slot: int, before: str, limit: int) -> list[tuple[str, bytes]]:
        """See Stream."""
        until = before if before == "+" else f"({before}"
        found = await self._with_timeout(self._client.xrevrange(_events(slot), until, count=limit))
        return [(entry.decode(), fields[_FIELD]) for entry, fields in found]

    async def read_group(
        self, reader: Consumer, slots: Sequence[int], wait_ms: int, limit: int
    ) -> Batch:
        """See Stream."""
        share = max(1, limit // len(slots))
        while (due := await self._claim_idle(reader, slots, share)) is None:
            await self._create_group(reader.group, slots)
        entries = await self._read_new(reader, slots, 0 if due != Batch() else wait_ms, share)
        return Batch((*due.entries, *entries), due.gaps)

    async def acknowledge(self, group: str, entries: EntryIds, gaps: Mapping[int, str]) -> int:
        """See Stream."""
        known = await self._read_gaps(group, tuple(gaps)) if gaps else ()
        asked = self._client.pipeline(transaction=False)
        for slot, ids in entries.items():
            asked.xack(_events(slot), group, *ids)
        for gap in known:
            if gap.end == gaps[gap.slot]:  # it has not grown meanwhile
                asked.hdel(_lost(gap.slot), group)
        return sum(await self._with_timeout(asked.execute()))

    async def group_states(self, slots: Sequence[int]) -> list[GroupState]:
        """See Stream."""
        asked = self._client.pipeline(transaction=False)
        for slot in slots:
            asked.xinfo_groups(_events(slot))
            asked.xlen(_events(slot))
            asked.hgetall(_lost(slot))
        # A slot in which nothing was ever told has no stream.
        found = await self._with_timeout(asked.execute(raise_on_error=False))
        return [
            _state(slot, group, length, lost)
            for slot, groups, length, lost in zip(
                slots, found[::3], found[1::3], found[2::3], strict=True
            )
            if not isinstance(groups, ResponseError)
            for group in groups
        ]

    async def drop_group(self, group: str, slots: Sequence[int]) -> bool:
        """See Stream."""
        asked = self._client.pipeline(transaction=False)
        for slot in slots:
            asked.xgroup_destroy(_events(slot), group)
            asked.hdel(_lost(slot), group)
        found = await self._with_timeout(asked.execute(raise_on_error=False))
        return any(each == 1 for each in found[::2])

    async def _claim_idle(self, reader: Consumer, slots: Sequence[int], share: int) -> Batch | None:
        """Take over what nobody has acknowledged in time; None when the group is not known."""
        asked = self._client.pipeline(transaction=False)
        for slot in slots:
            asked.xautoclaim(
                _events(slot), reader.group, reader.consumer, reader.idle_ms, count=share
            )
        claimed = await self._with_timeout(asked.execute(raise_on_error=False))
        if _is_unknown(claimed):
            return None
        entries = tuple(
            StreamEntry(slot, entry.decode(), fields[_FIELD], redelivered=True)
            for slot, answer in zip(slots, claimed, strict=True)
            for entry, fields in answer[1]
            if fields  # not cut off meanwhile
        )
        return Batch(entries, await self._read_gaps(reader.group, slots))

    async def _read_new(
        self, reader: Consumer, slots: Sequence[int], wait_ms: int, share: int
    ) -> list[StreamEntry]:
        streams: dict[Any, Any] = {_events(slot): ">" for slot in slots}
        read = self._client.xreadgroup(
            reader.group, reader.consumer, streams, count=share, block=wait_ms or None
        )
        found = await self._with_timeout(read, wait_ms / 1000)
        return [StreamEntry(*each) for each in _read(slots, found)]

    async def _create_group(self, group: str, slots: Sequence[int]) -> None:
        asked = self._client.pipeline(transaction=False)
        for slot in slots:
            asked.xgroup_create(_events(slot), group, START, mkstream=True)
        found = await self._with_timeout(asked.execute(raise_on_error=False))
        for each in found:
            if isinstance(each, ResponseError) and not str(each).startswith("BUSYGROUP"):
                raise StoreDown(str(each))

    async def _read_gaps(self, group: str, slots: Sequence[int]) -> tuple[Gap, ...]:
        asked = self._client.pipeline(transaction=False)
        for slot in slots:
            asked.hget(_lost(slot), group)
        found = await self._with_timeout(asked.execute())
        return tuple(
            Gap(slot, *_gap(body))
            for slot, body in zip(slots, found, strict=True)
            if body is not None
        )

    async def _edges(self, slots: Sequence[int], command: str) -> dict[int, str]:
        asked = self._client.pipeline(transaction=False)
        for slot in slots:
            getattr(asked, command)(_events(slot), count=1)
        found = await self._with_timeout(asked.execute())
        return {
            slot: entries[0][0].decode()
            for slot, entries in zip(slots, found, strict=True)
            if entries
        }


def _events(slot: int) -> str:
    return f"{{s{slot}}}:events"


def _lost(slot: int) -> str:
    return f"{{s{slot}}}:gaps"


def _read(slots: Sequence[int] | Mapping[int, str], found: Any) -> list[tuple[int, str, bytes]]:
    by_key = {_events(slot).encode(): slot for slot in slots}
    return [
        (by_key[key], entry.decode(), fields[_FIELD])
        for key, entries in found
        for entry, fields in entries
    ]


def _is_unknown(answers: Sequence[Any]) -> bool:
    """Tell whether the group has to be made; raises StoreDown for any other fault."""
    faults = [each for each in answers if isinstance(each, ResponseError)]
    for fault in faults:
        if not str(fault).startswith("NOGROUP"):
            raise StoreDown(str(fault))
    return bool(faults)


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
        lost=_gap(gap)[2] if gap else 0,
    )
