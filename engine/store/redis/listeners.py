"""Listeners in Redis or Valkey; all their keys have one hash tag, so scripts may use them all."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from engine.store.listeners import MAX_LISTENERS, ListenerState, StoredRequest
from engine.store.redis.stream import WithTimeout
from wire.decoding.messages import decode_message
from wire.listeners import Listener

_LUA = Path(__file__).parent / "lua"
_ADD = (_LUA / "add_listener.lua").read_text()
_RENEW = (_LUA / "renew_listener.lua").read_text()
_LIVE = (_LUA / "live_listeners.lua").read_text()
_RESPOND = (_LUA / "respond_to_listener.lua").read_text()
_LEASES, _LISTENERS = "{listeners}:leases", "{listeners}:all"
_FIELD = b"e"
_REPLACED_KNOWN_MS = 120_000
_RESPONSE_KEPT_MS = 30_000
_KEPT_REQUESTS = 1_000  # of a listener
_STATES: tuple[ListenerState, ...] = ("ended", "live", "replaced")  # results of renew_listener.lua


class RedisListeners(Struct, frozen=True):
    """Implements `ListenerStore`."""

    client: Redis
    with_timeout: WithTimeout

    async def add(self, listener: Listener, lease_ms: int) -> bool:
        arguments = (
            _member(listener.account, listener.id),
            subject_of(listener),
            listener.until_ms,
            msgspec.json.encode(listener),
            lease_ms,
            MAX_LISTENERS,
            _REPLACED_KNOWN_MS,
        )
        return bool(await self._run(_ADD, (_LEASES, _LISTENERS), *arguments))

    async def renew(self, account: str, listener: str, lease_ms: int) -> ListenerState:
        member = _member(account, listener)
        return _STATES[int(await self._run(_RENEW, (_LEASES, _LISTENERS), member, lease_ms))]

    async def remove(self, account: str, listener: str) -> bool:
        pipeline = self.client.pipeline(transaction=True)
        pipeline.hdel(_LISTENERS, _member(account, listener))
        pipeline.zrem(_LEASES, _member(account, listener))
        existed, _ = await self.with_timeout(pipeline.execute())
        return bool(existed)

    async def live(self) -> list[Listener]:
        found = await self._run(_LIVE, (_LEASES, _LISTENERS))
        return [decode_message(body, Listener) for body in found]

    async def offer(self, listener: str, request: str, body: bytes, wait_ms: int) -> str:
        key = _requests_key(listener)
        pipeline = self.client.pipeline(transaction=True)
        pipeline.set(_wait_key(listener, request), 1, px=wait_ms)
        pipeline.xadd(key, {_FIELD: body}, maxlen=_KEPT_REQUESTS)
        pipeline.pexpire(key, 2 * wait_ms)
        _, position, _ = await self.with_timeout(pipeline.execute())
        return str(position, "ascii")

    async def requests(
        self, listener: str, after: str, wait_ms: int, limit: int
    ) -> list[StoredRequest]:
        found = await self._read(_requests_key(listener), after, wait_ms, limit)
        return [StoredRequest(str(at, "ascii"), fields[_FIELD]) for at, fields in found]

    async def respond(self, listener: str, request: str, body: bytes) -> bool:
        keys = (_wait_key(listener, request), _response_key(listener, request))
        return bool(await self._run(_RESPOND, keys, body, _RESPONSE_KEPT_MS))

    async def response(self, listener: str, request: str, wait_ms: int) -> bytes | None:
        found = await self._read(_response_key(listener, request), "0-0", wait_ms, 1)
        return found[0][1][_FIELD] if found else None

    async def withdraw(self, listener: str, request: str, position: str) -> None:
        pipeline = self.client.pipeline(transaction=True)
        pipeline.delete(_wait_key(listener, request))
        pipeline.delete(_response_key(listener, request))
        pipeline.xdel(_requests_key(listener), position)
        await self.with_timeout(pipeline.execute())

    async def _read(
        self, key: str, after: str, wait_ms: int, limit: int
    ) -> list[tuple[bytes, dict[bytes, bytes]]]:
        read = self.client.xread({key: after}, count=limit, block=wait_ms or None)
        found = await self.with_timeout(read, wait_ms / 1000)
        return found[0][1] if found else []

    async def _run(self, script: str, keys: tuple[str, ...], *arguments: Any) -> Any:
        return await self.with_timeout(self.client.eval(script, len(keys), *keys, *arguments))


def subject_of(listener: Listener) -> str:
    """Return what a listener listens to, in one text."""
    return f"call {listener.call_id}" if listener.call_id else f"number {listener.number}"


def _member(account: str, listener: str) -> str:
    return f"{listener} {account}"


def _requests_key(listener: str) -> str:
    return f"{{listeners}}:{listener}:requests"


def _wait_key(listener: str, request: str) -> str:
    return f"{{listeners}}:{listener}:waits:{request}"


def _response_key(listener: str, request: str) -> str:
    return f"{{listeners}}:{listener}:response:{request}"
