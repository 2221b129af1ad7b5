"""Ended calls in Redis or Valkey: state and log, later one compressed value (decision 0060).

Nothing here takes the server or the event loop for long, whatever is stored: logs are read in
pages, a long one is compressed in pieces, and both ways of compression are done in a thread.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis

from engine.store.compressed_call import (
    HEAD_BYTES,
    PIECE_LINES,
    EndedCall,
    compress,
    compress_piece,
    compress_state,
    decompress,
    decompress_piece,
    is_compressed,
    is_in_pieces,
)
from engine.store.redis.script_connection import (
    ScriptRunner,
    encode,
    load_script,
    lua_string,
    owner_key,
    shard_key,
)
from engine.store.redis.versioned_documents import WithTimeout
from wire.shard import ShardId

_DUE, _COMPRESS = load_script("outbox", "due_ended"), load_script("outbox", "compress")
_ADD_PIECE = load_script("outbox", "add_piece")
MAX_BYTES = 1_000_000  # of calls that are read at once; one more call may follow
CALLS_PER_TURN = 8  # that a thread compresses before live calls get their turn
ShortCall = tuple[bytes, bytes, list[bytes]]
LongCall = tuple[bytes, bytes, int]  # the length of its log
Due = ShortCall | LongCall  # as due_ended.lua has it
Replacement = tuple[str, int, Any, int]  # as compress.lua has it


class RedisEndedCalls(Struct, frozen=True):
    """Compresses ended calls; `{node:slot}:uncompressed` has when each of the others has ended."""

    client: Redis
    scripts: ScriptRunner
    with_timeout: WithTimeout

    async def compress(
        self, tokens: Mapping[ShardId, int], after_ms: int, limit: int, dictionary: int
    ) -> int:
        due = await asyncio.gather(
            *(self._due(shard, token, after_ms, limit) for shard, token in tokens.items())
        )
        for (shard, token), calls in zip(tokens.items(), due, strict=True):
            short = [(name, state, log) for name, state, log in calls if isinstance(log, list)]
            for first in range(0, len(short), CALLS_PER_TURN):
                part = short[first : first + CALLS_PER_TURN]
                await self._replace(
                    shard, token, await asyncio.to_thread(_compressed, part, dictionary)
                )
            for name, _, length in calls:
                if isinstance(length, int):
                    await self._compress_long(shard, token, name.decode(), length, dictionary)
        return sum(map(len, due))

    async def log(self, shard: ShardId, call_id: str, first: int, limit: int | None) -> list[bytes]:
        """Read a log from a line on, page by page; its call may be compressed meanwhile."""
        found = list[bytes]()
        while limit is None or len(found) < limit:
            page = await self._page(shard, call_id, first + len(found))
            found += page
            if not page or (first + len(found)) % PIECE_LINES:
                break
        return found[:limit]

    async def _page(self, shard: ShardId, call_id: str, first: int) -> list[bytes]:
        """Read what is left of a piece's lines, whether they are compressed or not."""
        number, skipped = divmod(first, PIECE_LINES)
        pipeline = self.client.pipeline(transaction=False)
        key = shard_key(shard, "log", call_id)
        pipeline.lrange(key, first, (number + 1) * PIECE_LINES - 1)
        pipeline.llen(key)
        pipeline.getrange(shard_key(shard, "ended", call_id), 0, HEAD_BYTES - 1)
        lines, length, head = await self.with_timeout(pipeline.execute())
        if length:
            return list(lines)
        if not is_in_pieces(head):
            return await self._compressed_lines(shard, call_id, first)
        piece = await self.with_timeout(
            self.client.lindex(shard_key(shard, "pieces", call_id), number)
        )
        if piece is None:
            return []
        return (await asyncio.to_thread(decompress_piece, call_id, piece))[skipped:]

    async def _compressed_lines(self, shard: ShardId, call_id: str, first: int) -> list[bytes]:
        record = await self.with_timeout(self.client.get(shard_key(shard, "ended", call_id)))
        if record is None or not is_compressed(record):
            return []
        return list((await asyncio.to_thread(decompress, call_id, record)).log[first:])

    async def _due(self, shard: ShardId, token: int, after_ms: int, limit: int) -> Sequence[Due]:
        arguments = encode((token, after_ms, limit, PIECE_LINES, MAX_BYTES))
        answer: Any = await self.scripts.run(_DUE, owner_key(shard), arguments)  # a list
        return answer  # type: ignore[no-any-return]  # due_ended.lua says of what

    async def _compress_long(
        self, shard: ShardId, token: int, call_id: str, length: int, dictionary: int
    ) -> None:
        """Compress a call piece by piece; its log stays until all pieces are stored."""
        number, body = 0, b""
        for number, first in enumerate(range(0, length, PIECE_LINES), 1):
            page = self.client.lrange(
                shard_key(shard, "log", call_id), first, min(first + PIECE_LINES, length) - 1
            )
            lines = await self.with_timeout(page)
            piece = await asyncio.to_thread(compress_piece, call_id, lines, dictionary)
            arguments = encode((token, call_id, number - 1, lua_string(piece)))
            if await self.scripts.run(_ADD_PIECE, owner_key(shard), arguments) != 1:
                break  # it has expired, or is another engine's: the last script decides
        record = await self.with_timeout(self.client.get(shard_key(shard, "ended", call_id)))
        if record is not None and not is_compressed(record):
            state = state_of(call_id, record)
            body = await asyncio.to_thread(compress_state, call_id, state, length, dictionary)
        await self._replace(shard, token, [(call_id, length, lua_string(body), number)])

    async def _replace(
        self, shard: ShardId, token: int, replacements: Sequence[Replacement]
    ) -> None:
        """Replace calls that have not changed since; none if another engine has the shard."""
        await self.scripts.run(_COMPRESS, owner_key(shard), encode((token, replacements)))


def state_of(call_id: str, record: bytes) -> bytes:
    """Return the state in a record: after the node and a zero byte, or compressed."""
    if is_compressed(record):
        return decompress(call_id, record).state
    return record.partition(b"\0")[2]


def _compressed(calls: Sequence[ShortCall], dictionary: int) -> list[Replacement]:
    replacements = list[Replacement]()
    for name, record, log in calls:
        call_id, body = name.decode(), b""
        if record:
            call = EndedCall(state_of(call_id, record), tuple(log))
            body = compress(call_id, call, dictionary)
        replacements.append((call_id, len(log), lua_string(body), 0))
    return replacements
