"""Dial policies in Redis or Valkey: one hash of documents, a set of numbers for each list."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from redis.asyncio import Redis

from wire.dial_policy import DncListChange

WithTimeout = Callable[[Awaitable[Any]], Awaitable[Any]]
_UPDATE_LIST = (Path(__file__).parent / "lua/update_dnc_list.lua").read_text()
_POLICIES = "terms"
_COMPLETE = "*"  # in a set that has all numbers of its list


class RedisDialPolicyStore:
    """Implements `DialPolicyStore`."""

    def __init__(self, client: Redis, with_timeout: WithTimeout) -> None:
        self._client = client
        self._with_timeout = with_timeout

    async def put(self, account: str, body: bytes) -> None:
        await self._with_timeout(self._client.hset(_POLICIES, account, body))

    async def get(self, account: str) -> bytes | None:
        body: bytes | None = await self._with_timeout(self._client.hget(_POLICIES, account))
        return body

    async def all(self) -> dict[str, bytes]:
        found = await self._with_timeout(self._client.hgetall(_POLICIES))
        return {name.decode(): body for name, body in found.items()}

    async def change_list(self, account: str, change: DncListChange) -> int:
        arguments = (change.after, change.version, change.add, change.remove, change.is_whole)
        keys = (_list_key(account), _version_key(account))
        update = self._client.eval(
            _UPDATE_LIST, len(keys), *keys, msgspec.msgpack.encode(arguments)
        )
        return int(await self._with_timeout(update))

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        reads = self._client.pipeline(transaction=False)
        for account in accounts:
            reads.get(_version_key(account))
        return [int(found or 0) for found in await self._with_timeout(reads.execute())]

    async def delete_list(self, account: str) -> None:
        await self._with_timeout(self._client.unlink(_list_key(account), _version_key(account)))

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        request = self._client.smismember(_list_key(account), [_COMPLETE, *numbers])
        is_complete, *found = await self._with_timeout(request)
        return any(found) if is_complete else None


def _list_key(account: str) -> str:
    return f"dnc:{{{account}}}"


def _version_key(account: str) -> str:
    return f"dnc:{{{account}}}:version"
