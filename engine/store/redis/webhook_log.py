"""The webhook log in Redis or Valkey: a stream for each account, and a list of ids for each call.

Both have one hash tag, so that a script may change them. They expire with their last attempt.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis

from engine.store.redis.script_connection import ScriptRunner, encode, load_script, lua_string
from engine.store.redis.stream import WithTimeout
from engine.store.stream import entry_order
from engine.store.webhook_log import NEWEST, OLDEST, NewAttempt, StoredAttempt, WebhookLogLimits

_APPEND = load_script("append_attempts")
_FIELD = b"a"


class RedisWebhookLog(Struct, frozen=True):
    """Implements `WebhookLogStore`."""

    client: Redis
    scripts: ScriptRunner
    with_timeout: WithTimeout
    limits: WebhookLogLimits

    async def append(self, account: str, attempts: Sequence[NewAttempt]) -> None:
        bodies = [(each.call_id, lua_string(each.body)) for each in attempts]
        await self.scripts.run(_APPEND, _key(account), encode((self.limits, bodies)))

    async def read_before(self, account: str, before: str, limit: int) -> list[StoredAttempt]:
        until = before if before == NEWEST else f"({before}"
        read = self.client.xrevrange(_key(account), until, count=limit)
        return list(_stored(await self.with_timeout(read)))

    async def read_after(self, account: str, after: str, limit: int) -> list[StoredAttempt]:
        read = self.client.xrange(_key(account), f"({after}", count=limit)
        return list(_stored(await self.with_timeout(read)))

    async def read(self, account: str, entry_id: str) -> StoredAttempt | None:
        read = self.client.xrange(_key(account), entry_id, entry_id)
        return next(_stored(await self.with_timeout(read)), None)

    async def of_call(self, account: str, call_id: str, after: str = OLDEST) -> list[StoredAttempt]:
        found_ids = await self.with_timeout(self.client.lrange(_call_key(account, call_id), 0, -1))
        earliest = entry_order(after)
        ids = [each for each in found_ids if entry_order(each.decode()) > earliest]
        pipeline = self.client.pipeline(transaction=False)
        for each in ids:
            pipeline.xrange(_key(account), each, each)
        found = await self.with_timeout(pipeline.execute()) if ids else []
        return [each for entries in found for each in _stored(entries)]

    async def remove(self, account: str, entries: Sequence[str]) -> int:
        return int(await self.with_timeout(self.client.xdel(_key(account), *entries)))


def _key(account: str) -> str:
    return f"{{webhooks:{account}}}:attempts"


def _call_key(account: str, call_id: str) -> str:
    return f"{{webhooks:{account}}}:call:{call_id}"


def _stored(entries: Any) -> Iterator[StoredAttempt]:
    return (StoredAttempt(entry.decode(), fields[_FIELD]) for entry, fields in entries)
