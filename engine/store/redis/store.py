"""The store in Redis or Valkey: one script for each batch, the ordinary client otherwise."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from redis.asyncio import Redis

from engine.store.callback_queue import DEFAULT_CALLBACK_QUEUE_LIMITS, CallbackQueueLimits
from engine.store.change import Change
from engine.store.errors import CommitsLost, Fenced
from engine.store.redis.address import StoreAddress, parse_address
from engine.store.redis.callback_queue import RedisCallbackQueue
from engine.store.redis.cluster.client import ClusterClient, ClusterScripts
from engine.store.redis.cluster.topology import Topology
from engine.store.redis.document_cipher import DocumentCipher
from engine.store.redis.documents import RedisDialPolicyStore, RedisDocuments
from engine.store.redis.ended_calls import RedisEndedCalls, state_of
from engine.store.redis.listeners import RedisListeners
from engine.store.redis.phones import RedisPhones
from engine.store.redis.pool import TimedRequests, create_pool
from engine.store.redis.script_connection import (
    ScriptConnection,
    ScriptRunner,
    encode,
    load_script,
    lua_string,
    owner_key,
    shard_key,
)
from engine.store.redis.stream import RedisStream
from engine.store.redis.versioned_documents import RedisVersionedDocuments, WithTimeout
from engine.store.redis.webhook_log import RedisWebhookLog
from engine.store.shard_layout import ShardLayout, Workload
from engine.store.stream import DEFAULT_STREAM_LIMITS, StreamLimits
from engine.store.webhook_log import DEFAULT_WEBHOOK_LOG_LIMITS, WebhookLogLimits
from wire.cluster import StoreServer
from wire.shard import ShardId

_RESERVE = (Path(__file__).parent / "lua/reserve_request.lua").read_text()
_LAYOUT = "shards"  # slots per node, and the highest number there was
_NODES = "shards:nodes"
_SLOTS, _HIGHEST = "slots", "highest"


class RedisShardLayout:
    """The part of the store that says which shards there are."""

    _client: Redis
    _with_timeout: TimedRequests
    _retention_ms: int

    async def shard_layout(self) -> ShardLayout:
        reads = self._client.pipeline(transaction=False)
        reads.hmget(_LAYOUT, _SLOTS, _HIGHEST)
        reads.smembers(_NODES)
        (slots, highest), nodes = await self._with_timeout(reads.execute())
        names = tuple(sorted(node.decode() for node in nodes))
        return ShardLayout(int(slots or 0), max(int(slots or 0), int(highest or 0)), names)

    async def add_nodes(self, nodes: Collection[str], slots: int, highest: int = 0) -> int:
        if highest > (await self.shard_layout()).highest:
            await self._with_timeout(self._client.hset(_LAYOUT, _HIGHEST, str(highest)))
        writes = self._client.pipeline(transaction=False)
        if nodes:
            writes.sadd(_NODES, *nodes)
        writes.hsetnx(_LAYOUT, _SLOTS, str(slots))
        writes.hget(_LAYOUT, _SLOTS)
        *_, stored = await self._with_timeout(writes.execute())
        return int(stored)

    async def set_slots(self, slots: int) -> None:
        before = await self.shard_layout()
        layout = {_SLOTS: str(slots), _HIGHEST: str(max(before.highest, slots))}
        await self._with_timeout(self._client.hset(_LAYOUT, mapping=dict[Any, Any](layout)))

    async def request_of(self, request_id: str) -> str | None:
        call: bytes | None = await self._with_timeout(self._client.get(_request_key(request_id)))
        return None if call is None else call.decode()

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        arguments = (call_id, instead_of, str(self._retention_ms))
        reserve = self._client.eval(_RESERVE, 1, _request_key(request_id), *arguments)
        return str(await self._with_timeout(reserve), "utf-8")


def _request_key(request_id: str) -> str:
    return f"request:{request_id}"


_CLAIM, _RENEW, _HEARTBEAT = load_script("claim"), load_script("renew"), load_script("heartbeat")
_COMMIT = load_script("outbox", "trim_stream", "commit")
_MEMBERS = "members"  # the key of live engines
_CHANGES = "engines"  # the channel of membership changes
_PING_INTERVAL_S = 5.0
_string_list = msgspec.msgpack.Decoder(list[str])
_EXISTS = 2  # result of commit.lua
_COMMITS_LOST = 2  # result of renew.lua
_PAGE_SIZE = 500
_RECORDS = 50  # that are read at once: a record may have a megabyte
_DAY_MS = 86_400_000
PLAIN = DocumentCipher()


class RedisStore(RedisDocuments, RedisShardLayout):
    """Implements `Store`; see `shard_key` for a shard's keys."""

    def __init__(  # noqa: PLR0913 - limits and settings, each with a default
        self,
        url: str,
        *,
        timeout_s: float = 2.0,
        retention_s: float = 86_400.0,
        stream_limits: StreamLimits = DEFAULT_STREAM_LIMITS,
        outbox_limits: CallbackQueueLimits = DEFAULT_CALLBACK_QUEUE_LIMITS,
        cipher: DocumentCipher = PLAIN,
        webhook_log_limits: WebhookLogLimits = DEFAULT_WEBHOOK_LOG_LIMITS,
    ) -> None:
        self._cipher = cipher
        self._outbox_limits = outbox_limits
        self._with_timeout = TimedRequests(timeout_s)
        self._retention_ms = int(retention_s * 1000)
        self._stream_limits = stream_limits
        address = parse_address(url)
        self._address = address.redacted.partition("://")[2]
        self._client, self._scripts = _connect(address, timeout_s)
        self.stream = RedisStream(self._client, self._scripts, self._with_timeout, stream_limits)
        self.documents = RedisVersionedDocuments(
            self._client, self._scripts, self._with_timeout, cipher
        )
        self.phones = RedisPhones(self._client, self._with_timeout)
        self.callback_queue = RedisCallbackQueue(
            self._client, self._scripts, self._with_timeout, outbox_limits, cipher
        )
        self._ended_calls = RedisEndedCalls(self._client, self._scripts, self._with_timeout)
        self.listeners = RedisListeners(self._client, self._with_timeout)
        self.dial_policies = RedisDialPolicyStore(self._client, self._with_timeout)
        self.webhook_log = RedisWebhookLog(
            self._client, self._scripts, self._with_timeout, webhook_log_limits
        )

    @property
    def connections(self) -> int:
        return self._scripts.connections

    async def claim(
        self, shard: ShardId, owner: str, lease_ms: int, holder: str = ""
    ) -> int | None:
        arguments = encode((owner, lease_ms, holder))
        key = owner_key(shard)
        return int(await self._scripts.run(_CLAIM, key, arguments, may_open=False)) or None

    async def renew(self, shard: ShardId, token: int, lease_ms: int, number: int = 0) -> bool:
        arguments = encode((token, lease_ms, number))
        answer = await self._scripts.run(_RENEW, owner_key(shard), arguments)
        if answer == _COMMITS_LOST:
            raise CommitsLost
        return answer == 1

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        answer = await self._scripts.run(_HEARTBEAT, _MEMBERS, encode((engine, body, lease_ms)))
        alive = _string_list.decode(answer)  # type: ignore[arg-type]  # heartbeat.lua answers a string
        return dict(zip(alive[::2], alive[1::2], strict=True))

    async def last_seen_ms(self, shard: ShardId) -> int:
        seen = await self._with_timeout(self._client.hget(owner_key(shard), "seen_before"))
        return int(seen or 0)

    async def owner(self, shard: ShardId) -> str:
        owner: bytes | None = await self._with_timeout(self._client.hget(owner_key(shard), "owner"))
        return (owner or b"").decode()

    async def membership_changes(self) -> AsyncIterator[None]:
        channel = self._client.pubsub(ignore_subscribe_messages=True)
        try:
            await self._with_timeout(channel.subscribe(_CHANGES))
            while True:
                # A regular ping detects a dead connection.
                message = await self._with_timeout(
                    channel.get_message(timeout=_PING_INTERVAL_S), _PING_INTERVAL_S
                )
                if message is not None:
                    yield
                else:
                    await self._with_timeout(channel.ping())
        finally:
            await channel.aclose()  # type: ignore[no-untyped-call]  # untyped in redis-py

    async def create(self, shard: ShardId, token: int, change: Change) -> bool:
        return await self._write(shard, (token, 0), (change,), create=True) != _EXISTS

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> int:
        return max(0, -await self._write(shard, (token, number), changes, sent, create=False))

    async def unsent(self, shard: ShardId) -> dict[str, bytes | None]:
        members = await self._with_timeout(self._client.smembers(shard_key(shard, "unsent")))
        calls, found = sorted(each.decode() for each in members), dict[str, bytes | None]()
        for first in range(0, len(calls), _PAGE_SIZE):
            page = calls[first : first + _PAGE_SIZE]
            keys = [shard_key(shard, "ended", each) for each in page]
            records = await self._with_timeout(self._client.mget(keys))
            for call, record in zip(page, records, strict=True):
                found[call] = None if record is None else state_of(call, record)
        return found

    async def live(self, shard: ShardId) -> AsyncIterator[tuple[str, str, bytes]]:
        cursor, seen = 0, set[bytes]()
        while True:
            scan = self._client.hscan(shard_key(shard, "live"), cursor, count=_PAGE_SIZE)
            cursor, page = await self._with_timeout(scan)
            for call_id, record in page.items():
                if call_id not in seen:  # HSCAN may return an entry twice while the hash grows
                    seen.add(call_id)
                    node, _, state = record.partition(b"\0")
                    yield call_id.decode(), node.decode(), state
            if cursor == 0:
                return

    async def ended(self, shard: ShardId) -> AsyncIterator[tuple[str, bytes]]:
        cursor = 0
        while True:
            cursor, page = await self.ended_page(shard, cursor)
            for each in page:
                yield each
            if cursor == 0:
                return

    async def ended_page(self, shard: ShardId, cursor: int) -> tuple[int, list[tuple[str, bytes]]]:
        prefix = shard_key(shard, "ended", "")
        scan = self._client.scan(cursor, match=f"{prefix}*", count=_PAGE_SIZE)
        following, keys = await self._with_timeout(scan)
        names = [key.decode().removeprefix(prefix) for key in keys]
        page = list[tuple[str, bytes]]()
        for first in range(0, len(keys), _RECORDS):
            last = first + _RECORDS
            records = await self._with_timeout(self._client.mget(keys[first:last]))
            page += await asyncio.to_thread(_states, names[first:last], records)
        return following, page

    async def forget(self, shard: ShardId, call_id: str) -> None:
        keys = (shard_key(shard, kind, call_id) for kind in ("ended", "log", "pieces"))
        await self._with_timeout(self._client.unlink(*keys))

    async def compress_ended(
        self, tokens: Mapping[ShardId, int], after_ms: int, limit: int, dictionary: int
    ) -> int:
        return await self._ended_calls.compress(tokens, after_ms, limit, dictionary)

    async def remove_dead_letters(
        self, shard: ShardId, account: str, entries: Sequence[str]
    ) -> int:
        removal = self._client.xdel(shard_key(shard, "dead", account), *entries)
        return int(await self._with_timeout(removal))

    async def read(self, shard: ShardId, call_id: str) -> bytes | None:
        pipeline = self._client.pipeline(transaction=False)
        pipeline.hget(shard_key(shard, "live"), call_id)
        pipeline.get(shard_key(shard, "ended", call_id))
        live, ended = await self._with_timeout(pipeline.execute())
        record: bytes | None = live if live is not None else ended
        return None if record is None else state_of(call_id, record)

    async def log(
        self, shard: ShardId, call_id: str, first: int = 0, limit: int | None = None
    ) -> list[bytes]:
        return await self._ended_calls.log(shard, call_id, first, limit)

    async def workloads(self, shards: Sequence[ShardId]) -> list[Workload]:
        reads = self._client.pipeline(transaction=False)
        for shard in shards:
            reads.hlen(shard_key(shard, "live"))
            reads.zcard(shard_key(shard, "outbox"))
        found = await self._with_timeout(reads.execute())
        return [Workload(*each) for each in zip(found[::2], found[1::2], strict=True)]

    async def used_ms(self, account: str, shards: Iterable[ShardId]) -> int:
        day = await self.time_ms() // _DAY_MS
        reads = self._client.pipeline(transaction=False)
        for shard in shards:
            reads.hget(shard_key(shard, "used", str(day)), account)
        return sum(int(found or 0) for found in await self._with_timeout(reads.execute()))

    async def time_ms(self) -> int:
        seconds, microseconds = await self._with_timeout(self._client.time())
        return int(seconds) * 1000 + int(microseconds) // 1000

    async def ping(self) -> None:
        await self._with_timeout(self._client.ping())

    async def servers(self) -> list[StoreServer]:
        return await read_servers(self._client, self._address, self._with_timeout)

    async def close(self) -> None:
        await self._scripts.close()
        await self._client.aclose(close_connection_pool=True)

    async def _write(
        self,
        shard: ShardId,
        token_and_number: tuple[int, int],
        changes: Sequence[Change],
        sent: Sequence[str] = (),
        *,
        create: bool,
    ) -> int:
        head = (
            *token_and_number,
            self._retention_ms,
            self._stream_limits,
            create,
            self._outbox_limits,
            sent,
        )
        batch = encode_batch(head, changes)
        answer = await self._scripts.run(_COMMIT, owner_key(shard), batch)
        if isinstance(answer, int):
            return answer
        raise Fenced(shard, answer.decode())


def _states(names: Sequence[str], records: Sequence[bytes | None]) -> list[tuple[str, bytes]]:
    """Return the states of ended calls that have not expired meanwhile."""
    return [
        (call_id, state_of(call_id, record))
        for call_id, record in zip(names, records, strict=True)
        if record is not None
    ]


def _connect(address: StoreAddress, timeout_s: float) -> tuple[Redis, ScriptRunner]:
    """Return the clients of a server or a cluster, without connecting."""
    if address.cluster:
        topology = Topology(address, timeout_s)
        return ClusterClient(topology), ClusterScripts(topology, timeout_s)
    pool = create_pool(address, timeout_s)
    return Redis(connection_pool=pool), ScriptConnection(pool, timeout_s)


def encode_batch(head: tuple[Any, ...], changes: Iterable[Change]) -> bytes:
    """Encode changes as the one argument of commit.lua, after the fields of `head`."""
    return encode(
        (
            *head,
            [
                (
                    change.call_id,
                    lua_string(change.node.encode() + b"\0" + change.state),
                    change.seq,
                    [lua_string(entry) for entry in change.log],
                    [lua_string(event) for event in change.events],
                    change.live,
                    change.delivery_key,
                    [lua_string(event) for event in change.callbacks],
                    change.first_seq,
                    change.account,
                    change.used_ms,
                    change.unsent,
                )
                for change in changes
            ],
        )
    )


async def read_servers(client: Redis, address: str, with_timeout: WithTimeout) -> list[StoreServer]:
    """Read the INFO of the servers; raises StoreDown. `address` is that of a single server."""
    if isinstance(client, ClusterClient):
        nodes = await client.primaries()
        found = [await with_timeout(node.client.info()) for node in nodes]
        places = [":".join(map(str, node.location)) for node in nodes]
    else:
        found, places = [await with_timeout(client.info())], [address]
    return [_server(place, info) for place, info in zip(places, found, strict=True)]


def _server(address: str, info: Mapping[str, Any]) -> StoreServer:
    """Return what operators need of a server's INFO."""
    is_valkey = "valkey_version" in info
    version = info.get("valkey_version" if is_valkey else "redis_version", "")
    return StoreServer(
        "valkey" if is_valkey else "redis",
        address,
        str(version),
        {"slave": "replica", "master": "primary"}.get(str(info.get("role")), ""),
        int(info.get("used_memory", 0)),
        int(info.get("maxmemory", 0)) or None,
        int(info.get("connected_clients", 0)),
    )
