"""Terms in Redis or Valkey: one hash of documents, a set of numbers for each list."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from redis.asyncio import Redis

from wire.dial_policy import DncListChange

WithTimeout = Callable[[Awaitable[Any]], Awaitable[Any]]
_CHANGE = (Path(__file__).parent / "lua/update_dnc_list.lua").read_text()
_TERMS = "terms"
_WHOLE = "*"  # in a set that has all numbers of its list


class RedisDialPolicyStore:
    """Implements `terms.TermsStore`."""

    def __init__(self, client: Redis, bounded: WithTimeout) -> None:
        self._client = client
        self._with_timeout = bounded

    async def put(self, account: str, body: bytes) -> None:
        """See TermsStore."""
        await self._with_timeout(self._client.hset(_TERMS, account, body))

    async def get(self, account: str) -> bytes | None:
        """See TermsStore."""
        body: bytes | None = await self._with_timeout(self._client.hget(_TERMS, account))
        return body

    async def all(self) -> dict[str, bytes]:
        """See TermsStore."""
        found = await self._with_timeout(self._client.hgetall(_TERMS))
        return {name.decode(): body for name, body in found.items()}

    async def change_list(self, account: str, change: DncListChange) -> int:
        """See TermsStore."""
        asked = (change.after, change.version, change.add, change.remove, change.is_whole)
        keys = (_list_key(account), _version_key(account))
        made = self._client.eval(_CHANGE, len(keys), *keys, msgspec.msgpack.encode(asked))
        return int(await self._with_timeout(made))

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        """See TermsStore."""
        look = self._client.pipeline(transaction=False)
        for account in accounts:
            look.get(_version_key(account))
        return [int(found or 0) for found in await self._with_timeout(look.execute())]

    async def delete_list(self, account: str) -> None:
        """See TermsStore."""
        await self._with_timeout(self._client.unlink(_list_key(account), _version_key(account)))

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        """See TermsStore."""
        asked = self._client.smismember(_list_key(account), [_WHOLE, *numbers])
        is_whole, *found = await self._with_timeout(asked)
        return any(found) if is_whole else None


def _list_key(account: str) -> str:
    return f"dnc:{{{account}}}"


def _version_key(account: str) -> str:
    return f"dnc:{{{account}}}:version"
