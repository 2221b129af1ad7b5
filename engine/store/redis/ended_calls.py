"""Ended calls in Redis or Valkey: state and log, later one compressed value (decision 0060)."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from engine.store.compressed_call import EndedCall, compress, decompress, is_compressed
from engine.store.redis.keys import owner_key
from engine.store.redis.lua_values import encode, lua_string
from engine.store.redis.script_connection import ScriptRunner, load_script
from wire.shard import ShardId

_DUE, _COMPRESS = load_script("outbox", "due_ended"), load_script("outbox", "compress")
CALLS_PER_TURN = 8  # then live calls get their turn on the event loop


class RedisEndedCalls(Struct, frozen=True):
    """Compresses ended calls; `{node:slot}:uncompressed` has when each of the others has ended."""

    scripts: ScriptRunner

    async def compress(
        self, tokens: Mapping[ShardId, int], after_ms: int, limit: int, dictionary: int
    ) -> int:
        due = await asyncio.gather(
            *(self._due(shard, token, after_ms, limit) for shard, token in tokens.items())
        )
        for (shard, token), calls in zip(tokens.items(), due, strict=True):
            if calls:
                await self._replace(shard, token, calls, dictionary)
        return sum(map(len, due))

    async def _due(
        self, shard: ShardId, token: int, after_ms: int, limit: int
    ) -> Sequence[tuple[bytes, bytes, list[bytes]]]:
        arguments = encode((token, after_ms, limit))
        answer: Any = await self.scripts.run(_DUE, owner_key(shard), arguments)  # a list
        return answer  # type: ignore[no-any-return]  # due_ended.lua says of what

    async def _replace(
        self,
        shard: ShardId,
        token: int,
        calls: Sequence[tuple[bytes, bytes, list[bytes]]],
        dictionary: int,
    ) -> None:
        """Replace calls that have not changed since; none if another engine has the shard."""
        replacements = []
        for number, (name, record, log) in enumerate(calls, 1):
            call_id, body = name.decode(), b""
            if record:
                ended = EndedCall(state_of(call_id, record), tuple(log))
                body = compress(call_id, ended, dictionary)
            replacements.append((call_id, len(log), lua_string(body)))
            if number % CALLS_PER_TURN == 0:
                await asyncio.sleep(0)
        await self.scripts.run(_COMPRESS, owner_key(shard), encode((token, replacements)))


def state_of(call_id: str, record: bytes) -> bytes:
    """Return the state in a record: after the node and a zero byte, or compressed."""
    if is_compressed(record):
        return decompress(call_id, record).state
    return record.partition(b"\0")[2]


def log_of(call_id: str, lines: list[bytes], ended: bytes | None, first: int = 0) -> list[bytes]:
    """Return the log of a call from a line on, given that of its list and, if ended, its record."""
    if not lines and ended is not None and is_compressed(ended):
        return list(decompress(call_id, ended).log[first:])
    return lines
