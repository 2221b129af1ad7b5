"""The callback queue in Redis or Valkey: scripts change it, with a fencing token for the owner."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from engine.store.callback_queue import (
    CallbackQueueLimits,
    ClaimedBatch,
    DeadLetter,
    DueCall,
    PendingEvents,
    Settlement,
)
from engine.store.errors import Fenced
from engine.store.redis.document_cipher import DocumentCipher
from engine.store.redis.script_connection import ScriptRunner, load_script, owner_key, shard_key
from engine.store.redis.versioned_documents import WithTimeout, table_of
from wire.documents.versioned import CALLBACK_ID
from wire.shard import ShardId

_CLAIM_DUE, _SETTLE = load_script("outbox", "claim_due"), load_script("outbox", "settle")
_RESEND = load_script("outbox", "resend")
_REMOVE_PENDING = load_script("outbox", "remove_pending")
_CALLS_PER_PAGE = 500
_STOPPED = "stopped"  # beside the settings: no document has this id
_encode = msgspec.msgpack.Encoder().encode
_decode_list = msgspec.msgpack.Decoder(list[Any]).decode


class RedisCallbackQueue(Struct, frozen=True):
    """Implements `CallbackQueue`."""

    client: Redis
    scripts: ScriptRunner
    with_timeout: WithTimeout
    limits: CallbackQueueLimits
    cipher: DocumentCipher

    async def claim_due(
        self, shard: ShardId, token: int, ahead_ms: int, limit: int
    ) -> ClaimedBatch:
        arguments = _encode((token, ahead_ms, self.limits.claim_ms, limit))
        answer = await self.scripts.run(_CLAIM_DUE, owner_key(shard), arguments)
        if isinstance(answer, int):
            raise Fenced(shard, "another")
        pending, oldest_ms, *due = _decode_list(answer)
        calls = zip(due[::3], due[1::3], due[2::3], strict=True)
        found = tuple(DueCall(call, key, int(age_ms)) for call, key, age_ms in calls)
        return ClaimedBatch(found, int(pending), int(oldest_ms))

    async def pending_events(self, shard: ShardId, call_id: str, limit: int) -> PendingEvents:
        reads = self.client.pipeline(transaction=False)
        reads.zrange(shard_key(shard, "due", call_id), 0, limit - 1, withscores=True)
        reads.hget(shard_key(shard, "ways"), call_id)
        reads.hget(shard_key(shard, "tries"), call_id)
        events, key, tries = await self.with_timeout(reads.execute())
        found = tuple((int(seq), event) for event, seq in events)
        return PendingEvents((key or b"").decode(), int(tries or 0), found)

    async def pending_calls(
        self, shard: ShardId, account: str, cursor: int
    ) -> tuple[int, list[str]]:
        following, page = await self.with_timeout(
            self.client.hscan(shard_key(shard, "ways"), cursor, count=_CALLS_PER_PAGE)
        )
        of_account = f"{account} ".encode()
        calls = (call for call, key in page.items() if key.startswith(of_account))
        return int(following), [each.decode() for each in calls]

    async def remove_pending(self, shard: ShardId, call_id: str, numbers: Sequence[int]) -> int:
        arguments = _encode((call_id, numbers))
        return int(await self.scripts.run(_REMOVE_PENDING, owner_key(shard), arguments))

    async def settle(self, shard: ShardId, token: int, settlements: Sequence[Settlement]) -> None:
        arguments = _encode((token, self.limits, settlements))
        answer = await self.scripts.run(_SETTLE, owner_key(shard), arguments)
        if not isinstance(answer, int):
            raise Fenced(shard, answer.decode())

    async def dead_letters(
        self, shard: ShardId, account: str, after: str, limit: int
    ) -> list[DeadLetter]:
        begin = f"({after}" if after else "-"
        key = shard_key(shard, "dead", account)
        found = await self.with_timeout(self.client.xrange(key, min=begin, count=limit))
        return [_dead_letter(entry, fields) for entry, fields in found]

    async def resend(self, shard: ShardId, account: str, entries: Sequence[str], limit: int) -> int:
        arguments = _encode((account, entries, limit, self.limits))
        return int(await self.scripts.run(_RESEND, owner_key(shard), arguments))

    async def account(self, account: str) -> tuple[bytes | None, int]:
        key = table_of("callback", account)
        read = self.client.hmget(key, [CALLBACK_ID, _STOPPED])
        stored, stopped = await self.with_timeout(read)
        body = stored and self.cipher.decrypt(f"{key}:{CALLBACK_ID}", stored)
        return body, int(stopped or -1)

    async def stop_account(self, account: str, put_ms: int) -> None:
        key = table_of("callback", account)
        await self.with_timeout(self.client.hset(key, _STOPPED, str(put_ms)))


def _dead_letter(entry: bytes, fields: dict[bytes, bytes]) -> DeadLetter:
    return DeadLetter(
        entry.decode(),
        fields[b"c"].decode(),
        fields[b"w"].decode(),
        int(fields[b"s"]),
        fields[b"e"],
        fields[b"r"].decode(),
        int(fields[b"t"]),
    )
