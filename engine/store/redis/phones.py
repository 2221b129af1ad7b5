"""Agents' phones in Redis or Valkey: credentials with a stream of changes, and claimed endpoints.

The phones are one hash, so all keys here have its hash slot; those of endpoints have another.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis

from engine.store.phones import RESERVED_MS
from engine.store.redis.versioned_documents import WithTimeout, table_of
from engine.store.store import MAX_CHANGES

_LUA = Path(__file__).parent / "lua/documents"
_CLAIM = (_LUA / "claim_endpoint.lua").read_text()
_RELEASE = (_LUA / "release_endpoint.lua").read_text()
_PHONES = table_of("phone", "")
_CHANGES, _DELETED = f"{{{_PHONES}}}:changes", f"{{{_PHONES}}}:deleted"
_ENDPOINTS = "agent-endpoints"  # the account that each belongs to
_NO_CHANGE = "0-0"  # the position in a stream without changes


class RedisPhones(Struct, frozen=True):
    """Implements `PhoneStore`."""

    client: Redis
    with_timeout: WithTimeout

    async def all(self) -> dict[str, bytes]:
        found = await self.with_timeout(self.client.hgetall(_PHONES))
        return {name.decode(): body for name, body in found.items()}

    async def read(self, name: str) -> tuple[bytes | None, bool]:
        reads = self.client.pipeline(transaction=True)
        reads.hget(_PHONES, name)
        reads.zscore(_DELETED, name)
        body, deleted = await self.with_timeout(reads.execute())
        return body, body is not None or deleted is not None

    async def changes(self, after: str) -> tuple[Mapping[str, bytes | None], str]:
        if not after:
            return await self._everything()
        # Its own entry comes first, unless the stream has been lost or has expired.
        found = await self.with_timeout(self.client.xrange(_CHANGES, after, count=MAX_CHANGES + 1))
        is_known = after == _NO_CHANGE or (found and found[0][0].decode() == after)
        if not is_known or len(found) > MAX_CHANGES:
            return await self._everything()
        names = {fields[b"phone"].decode() for place, fields in found if place.decode() != after}
        return await self._named(sorted(names)), found[-1][0].decode() if found else after

    async def reserve(self, endpoint: str, account: str) -> str:
        return str(await self._run(_CLAIM, endpoint, account, RESERVED_MS, 0), "utf-8")

    async def claim(self, endpoint: str, account: str) -> str:
        return str(await self._run(_CLAIM, endpoint, account, RESERVED_MS, 1), "utf-8")

    async def release(self, endpoint: str, account: str) -> None:
        await self._run(_RELEASE, endpoint, account, 0)

    async def release_unused(self, endpoint: str, account: str) -> None:
        await self._run(_RELEASE, endpoint, account, 1)

    async def owner(self, endpoint: str) -> str | None:
        owner = await self.with_timeout(self.client.hget(_ENDPOINTS, endpoint))
        return None if owner is None else owner.decode()

    async def _everything(self) -> tuple[Mapping[str, bytes | None], str]:
        reads = self.client.pipeline(transaction=True)
        reads.xrevrange(_CHANGES, count=1)
        reads.hgetall(_PHONES)
        reads.zrange(_DELETED, 0, -1)
        last, bodies, deleted = await self.with_timeout(reads.execute())
        found: dict[str, bytes | None] = dict.fromkeys(name.decode() for name in deleted)
        found |= {name.decode(): body for name, body in bodies.items()}
        return found, last[0][0].decode() if last else _NO_CHANGE

    async def _named(self, names: Sequence[str]) -> dict[str, bytes | None]:
        """Read some phones; what is neither stored nor deleted was lost, and is left out."""
        if not names:
            return {}
        reads = self.client.pipeline(transaction=True)
        reads.hmget(_PHONES, list(names))
        reads.zmscore(_DELETED, list(names))
        bodies, deleted = await self.with_timeout(reads.execute())
        rows = zip(names, bodies, deleted, strict=True)
        return {name: body for name, body, at in rows if body is not None or at is not None}

    async def _run(self, script: str, endpoint: str, *arguments: str | int) -> Any:
        keys = (_ENDPOINTS, f"{{{_ENDPOINTS}}}:reserved:{endpoint}")
        return await self.with_timeout(self.client.eval(script, 2, *keys, endpoint, *arguments))
