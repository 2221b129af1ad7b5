"""Ended calls in Redis or Valkey: state and log, later one compressed value (decision 0060)."""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct
from redis.asyncio import Redis

from engine.store.compressed_call import EndedCall, compress, decompress, is_compressed
from engine.store.redis.documents import WithTimeout
from engine.store.redis.keys import owner_key, slot_key
from engine.store.redis.lua_values import encode, lua_string
from engine.store.redis.script_connection import ScriptConnection, load_script

_COMPRESS = load_script("outbox", "compress")
CALLS_PER_TURN = 8  # then live calls get their turn on the event loop


class _Found(Struct, frozen=True):
    call_id: str
    record: bytes | None  # None: expired or forgotten
    log: tuple[bytes, ...]


class RedisEndedCalls(Struct, frozen=True):
    """Compresses ended calls; `{sN}:uncompressed` has when each of the others has ended."""

    client: Redis
    scripts: ScriptConnection
    with_timeout: WithTimeout

    async def compress(
        self, tokens: Mapping[int, int], after_ms: int, limit: int, dictionary: int
    ) -> int:
        due = await self._due(tuple(tokens), after_ms, limit)
        if not due:
            return 0
        replacing = (
            self._replace(slot, tokens[slot], found, dictionary)
            for slot, found in (await self._read(due)).items()
        )
        return sum(await asyncio.gather(*replacing))

    async def _due(self, slots: Sequence[int], after_ms: int, limit: int) -> dict[int, list[str]]:
        reads = self.client.pipeline(transaction=False)
        reads.time()
        for slot in slots:
            reads.zrange(slot_key(slot, "uncompressed"), 0, limit - 1, withscores=True)
        (seconds, _), *found = await self.with_timeout(reads.execute())
        until_ms = int(seconds) * 1000 - after_ms
        due = {
            slot: [call_id.decode() for call_id, ended_ms in calls if ended_ms <= until_ms]
            for slot, calls in zip(slots, found, strict=True)
        }
        return {slot: calls for slot, calls in due.items() if calls}

    async def _read(self, due: Mapping[int, Sequence[str]]) -> dict[int, list[_Found]]:
        reads = self.client.pipeline(transaction=False)
        for slot, calls in due.items():
            for call_id in calls:
                reads.get(slot_key(slot, "ended", call_id))
                reads.lrange(slot_key(slot, "log", call_id), 0, -1)
        answers = iter(await self.with_timeout(reads.execute()))
        return {
            slot: [_Found(call_id, next(answers), tuple(next(answers))) for call_id in calls]
            for slot, calls in due.items()
        }

    async def _replace(
        self, slot: int, token: int, calls: Sequence[_Found], dictionary: int
    ) -> int:
        """Replace calls that have not changed since; returns 0 if another engine has the slot."""
        replacements = []
        for number, call in enumerate(calls, 1):
            body = b""
            if call.record is not None and not is_compressed(call.record):
                ended = EndedCall(state_of(call.call_id, call.record), call.log)
                body = compress(call.call_id, ended, dictionary)
            replacements.append((call.call_id, len(call.log), lua_string(body)))
            if number % CALLS_PER_TURN == 0:
                await asyncio.sleep(0)
        batch = encode((token, replacements))
        answer = await self.scripts.run(_COMPRESS, owner_key(slot), batch)
        return len(calls) if isinstance(answer, int) else 0


def state_of(call_id: str, record: bytes) -> bytes:
    """Return the state in a record: after the node and a zero byte, or compressed."""
    if is_compressed(record):
        return decompress(call_id, record).state
    return record.partition(b"\0")[2]


def log_of(call_id: str, lines: list[bytes], ended: bytes | None) -> list[bytes]:
    """Return the log of a call, given its list and, if it has ended, its record."""
    if not lines and ended is not None and is_compressed(ended):
        return list(decompress(call_id, ended).log)
    return lines
