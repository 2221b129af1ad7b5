"""Documents in Redis or Valkey: flows, API requests, number routes, agents, dial policies.

Dial policies are one hash; each do-not-call list is a set of numbers.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from engine.store.redis.document_cipher import DocumentCipher
from engine.store.redis.pool import TimedRequests
from engine.store.redis.versioned_documents import (
    RedisVersionedDocuments,
    WithTimeout,
    flow_key,
    table_of,
)
from engine.store.store import MAX_CHANGES
from wire.dial_policy import DncListChange

_ROUTES = table_of("route", "")
_STOPPED = "accounts:stopped"
_DRAINED = "nodes:drained"
_UPDATE_LIST = (Path(__file__).parent / "lua/update_dnc_list.lua").read_text()
_POLICIES = "terms"
_COMPLETE = "*"  # in a set that has all numbers of its list


class RedisDocuments:
    """The part of the store that is small, often read and seldom changed.

    An account's flows have its name as hash tag, so that a version and its number are one write.
    """

    documents: RedisVersionedDocuments
    _client: Redis
    _with_timeout: TimedRequests
    _cipher: DocumentCipher

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        number = version or int(await self._get(table_of("flow", account), flow_id) or 0)
        body = await self._get(flow_key(account, flow_id), str(number))
        return None if body is None else (number, body)

    async def request(self, account: str, request_id: str) -> bytes | None:
        stored = await self._get(f"requests:{account}", request_id)
        place = _request_place(account, request_id)
        return None if stored is None else self._cipher.decrypt(place, stored)

    async def requests(self, account: str, ids: Sequence[str]) -> dict[str, bytes]:
        found = await self._some(f"requests:{account}", ids)
        return {
            request_id: self._cipher.decrypt(_request_place(account, request_id), stored)
            for request_id, stored in found.items()
        }

    async def route(self, number: str) -> bytes | None:
        return await self._get(_ROUTES, number)

    async def agent_changes(self, account: str, after: str) -> tuple[list[str], str]:
        key = _agent_changes_key(account)
        if not after:
            last = await self._with_timeout(self._client.xrevrange(key, count=1))
            return [], last[0][0].decode() if last else "0-0"
        read = self._client.xrange(key, f"({after}", "+", count=MAX_CHANGES)
        found = await self._with_timeout(read)
        changed = [fields[b"agent"].decode() for _, fields in found]
        return changed, found[-1][0].decode() if found else after

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        return await self._get(f"agents:{account}", agent_id)

    async def agents(self, account: str, ids: Sequence[str] | None = None) -> dict[str, bytes]:
        return await self._some(f"agents:{account}", ids)

    async def put_drained(self, node: str, is_drained: bool) -> None:
        change = self._client.sadd if is_drained else self._client.srem
        await self._with_timeout(change(_DRAINED, node))

    async def drained(self) -> frozenset[str]:
        names = await self._with_timeout(self._client.smembers(_DRAINED))
        return frozenset(name.decode() for name in names)

    async def _get(self, table: str, name: str) -> bytes | None:
        body: bytes | None = await self._with_timeout(self._client.hget(table, name))
        return body

    async def _some(self, table: str, ids: Sequence[str] | None) -> dict[str, bytes]:
        if ids is None:
            return await self._all(table)
        bodies = await self._with_timeout(self._client.hmget(table, list(ids))) if ids else []
        pairs = zip(ids, bodies, strict=True)
        return {name: body for name, body in pairs if body is not None}

    async def _all(self, table: str) -> dict[str, bytes]:
        found = await self._with_timeout(self._client.hgetall(table))
        return {name.decode(): body for name, body in found.items()}


def _request_place(account: str, request_id: str) -> str:
    return f"requests:{account}:{request_id}"


class RedisDialPolicyStore(Struct, frozen=True):
    """Implements `DialPolicyStore`."""

    client: Redis
    with_timeout: WithTimeout

    async def put(self, account: str, body: bytes, *, is_stopped: bool = False) -> None:
        # The keys may be on two servers; in this order, no account is allowed more meanwhile.
        if is_stopped:
            await self.with_timeout(self.client.sadd(_STOPPED, account))
        await self.with_timeout(self.client.hset(_POLICIES, account, body))
        if not is_stopped:
            await self.with_timeout(self.client.srem(_STOPPED, account))

    async def stopped(self) -> frozenset[str]:
        names = await self.with_timeout(self.client.smembers(_STOPPED))
        return frozenset(name.decode() for name in names)

    async def get(self, account: str) -> bytes | None:
        body: bytes | None = await self.with_timeout(self.client.hget(_POLICIES, account))
        return body

    async def all(self) -> dict[str, bytes]:
        found = await self.with_timeout(self.client.hgetall(_POLICIES))
        return {name.decode(): body for name, body in found.items()}

    async def change_list(self, account: str, change: DncListChange) -> int:
        arguments = (change.after, change.version, change.add, change.remove, change.is_whole)
        keys = (_list_key(account), _version_key(account))
        update = self.client.eval(_UPDATE_LIST, len(keys), *keys, msgspec.msgpack.encode(arguments))
        return int(await self.with_timeout(update))

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        reads = self.client.pipeline(transaction=False)
        for account in accounts:
            reads.get(_version_key(account))
        return [int(found or 0) for found in await self.with_timeout(reads.execute())]

    async def delete_list(self, account: str) -> None:
        await self.with_timeout(self.client.unlink(_list_key(account), _version_key(account)))

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        request = self.client.smismember(_list_key(account), [_COMPLETE, *numbers])
        is_complete, *found = await self.with_timeout(request)
        return any(found) if is_complete else None


def _agent_changes_key(account: str) -> str:
    return f"{{agents:{account}}}:changes"  # at the server that has the agents


def _list_key(account: str) -> str:
    return f"dnc:{{{account}}}"


def _version_key(account: str) -> str:
    return f"dnc:{{{account}}}:version"
