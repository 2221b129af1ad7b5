"""Converts the layout of earlier versions, in which an engine owned a slot of all nodes.

Its keys have the hash tag of their slot: `{s3}:live`, and its engines are in `engines`. While one
of them lives, nothing is converted. See decision 0058.
"""

import re
from collections.abc import AsyncIterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from engine.store.errors import StoreDown
from engine.store.redis.versioned_documents import WithTimeout

LAYOUT = "shards"  # slots per node, the highest number there was, and whether it is converted
NODES = "shards:nodes"
CONVERTED = "converted"
_LIVE_MOVED, _ALL_MOVED = "live", "all"
MAX_SLOTS = 64  # of earlier versions
_EARLIER_ENGINES = "engines"
_PAGE_SIZE = 2_000
_CALLS_AT_ONCE = 500  # a script blocks the whole store while it runs
_KEY = re.compile(r"\{s(?P<slot>[0-9]{1,2})\}:(?P<kind>[a-z]+)(?::(?P<name>.+))?", re.DOTALL)
_CALL_ID = re.compile(r"[0-9]{1,3}-(?P<node>[a-z0-9]{1,16})-(?P<tail>[A-Za-z0-9_]{8,64})")
_OF_CALLS = frozenset({"live", "due"})
_ENDED = frozenset({"ended"})
_STAYING = {"owner", "log", "uncompressed"}
_OF_SLOTS = {"events", "gaps", "dead", "used"}
_FENCE = (Path(__file__).parent / "lua/fence_slot.lua").read_text()
_MOVE = (Path(__file__).parent / "lua/move_calls.lua").read_text()
_decode_engine = msgspec.msgpack.Decoder(tuple[float, str]).decode


class EarlierLayout(Struct, frozen=True):
    """Every step may be repeated, and run in several engines at once."""

    client: Redis
    with_timeout: WithTimeout
    retention_ms: int

    async def engines(self) -> dict[str, str]:
        """Return the heartbeats of live engines of earlier versions; none after the conversion."""
        reads = self.client.pipeline(transaction=False)
        reads.hget(LAYOUT, CONVERTED)
        reads.time()
        reads.hgetall(_EARLIER_ENGINES)
        is_converted, (seconds, _), found = await self.with_timeout(reads.execute())
        if is_converted:
            return {}
        engines: dict[str, str] = {}
        for name, field in found.items():
            with suppress(msgspec.DecodeError):  # a field that no engine wrote
                until_ms, body = _decode_engine(field)
                if until_ms > int(seconds) * 1000:
                    engines[name.decode()] = body
        return engines

    async def convert(self, home: str) -> None:
        """Move live calls and their callbacks to shards, unless that is done; the events to `home`.

        Raises StoreDown while an engine of an earlier version may own a slot.
        """
        if await self._state():
            return
        state = _ALL_MOVED
        if await self._fence():
            highest, nodes = await self._move(_OF_CALLS, home)
            layout = self.client.pipeline(transaction=False)
            layout.sadd(NODES, home, *nodes)
            layout.hsetnx(LAYOUT, "highest", str(highest + 1))
            await self.with_timeout(layout.execute())
            state = _LIVE_MOVED
        await self.with_timeout(self.client.hsetnx(LAYOUT, CONVERTED, state))

    async def move_ended_calls(self) -> None:
        """Move the ended calls, unless that is done: millions take minutes."""
        if await self._state() == _LIVE_MOVED:
            _, nodes = await self._move(_ENDED, "")
            if nodes:
                await self.with_timeout(self.client.sadd(NODES, *nodes))
            queues = [f"{{s{slot}}}:uncompressed" for slot in range(MAX_SLOTS)]
            await self.with_timeout(self.client.unlink(*queues))
            await self.with_timeout(self.client.hset(LAYOUT, CONVERTED, _ALL_MOVED))

    async def _state(self) -> str:
        state: bytes | None = await self.with_timeout(self.client.hget(LAYOUT, CONVERTED))
        return (state or b"").decode()

    async def _fence(self) -> bool:
        """Let no engine of an earlier version own a slot; returns whether one ever did."""
        owners = [f"{{s{slot}}}:owner" for slot in range(MAX_SLOTS)]
        reads = self.client.pipeline(transaction=False)
        for owner in owners:
            reads.exists(owner)
        if not any(await self.with_timeout(reads.execute())):
            return False
        fences = self.client.pipeline(transaction=False)
        for owner in owners:
            fences.eval(_FENCE, 1, owner)
        if not all(await self.with_timeout(fences.execute())):
            raise StoreDown("an engine of an earlier version may still own a slot")
        return True

    async def _move(self, kinds: AbstractSet[str], home: str) -> tuple[int, set[str]]:
        """Move calls that have keys of some kinds, and what belongs to no call to a node, if any.

        Returns the highest slot and the nodes that had data.
        """
        digest = await self.with_timeout(self.client.script_load(_MOVE))
        highest, nodes, left = 0, set[str](), list[str]()
        async for keys in self._pages():
            renames = self.client.pipeline(transaction=False)
            calls: dict[int, set[str]] = {}
            for key, found in keys:
                slot, kind, name = int(found["slot"]), found["kind"], found["name"]
                highest = max(highest, slot)
                if kind in kinds:
                    ids = {name}
                    if name is None:  # all live calls of a slot
                        found_ids = await self.with_timeout(self.client.hkeys(key))
                        ids = {each.decode() for each in found_ids}
                    calls.setdefault(slot, set()).update(ids)
                elif home and kind in _OF_SLOTS:
                    renames.rename(key, key.replace(f"{{s{slot}}}", f"{{{home}:{slot}}}", 1))
                elif home and kind not in _ENDED:
                    left.append(key)
            _check(await self.with_timeout(renames.execute(raise_on_error=False)))
            for slot, ids in calls.items():
                nodes |= await self._move_calls(digest, slot, sorted(ids))
        if left:
            await self.with_timeout(self.client.unlink(*left))
        return highest, nodes

    async def _pages(self) -> AsyncIterator[list[tuple[str, re.Match[str]]]]:
        cursor = 0
        while True:
            scan = self.client.scan(cursor, match="{s*}:*", count=_PAGE_SIZE)
            cursor, keys = await self.with_timeout(scan)
            found = ((key, _KEY.fullmatch(key)) for key in (each.decode() for each in keys))
            # The owners are the fence; a call's log moves with the call.
            yield [(key, match) for key, match in found if match and match["kind"] not in _STAYING]
            if cursor == 0:
                return

    async def _move_calls(self, digest: str, slot: int, ids: Sequence[str]) -> set[str]:
        calls = [call for each in ids if (call := _CALL_ID.fullmatch(each or ""))]
        for first in range(0, len(calls), _CALLS_AT_ONCE):
            some = [
                (call[0], f"{{{call['node']}:{slot}}}", call["tail"])
                for call in calls[first : first + _CALLS_AT_ONCE]
            ]
            arguments = msgspec.msgpack.encode((self.retention_ms, some))
            move = self.client.evalsha(digest, 1, f"{{s{slot}}}:owner", arguments)
            await self.with_timeout(move)
        return {call["node"] for call in calls}


def _check(results: Sequence[object]) -> None:
    """Raise StoreDown for an error, but not for what another engine has moved meanwhile."""
    for each in results:
        if isinstance(each, Exception) and "no such key" not in str(each):
            raise StoreDown(str(each))
