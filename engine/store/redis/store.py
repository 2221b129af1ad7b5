"""The store in Redis or Valkey: commits by one script a batch, the rest by the ordinary client."""

from collections.abc import AsyncIterator, Sequence

import msgspec
from redis.asyncio import Redis

from engine.store.change import Change
from engine.store.errors import CommitsLost, Fenced
from engine.store.outbox import OutboxLimits
from engine.store.redis.address import parse_address
from engine.store.redis.batch_encoding import encode_batch
from engine.store.redis.dial_policy import RedisDialPolicyStore
from engine.store.redis.documents import RedisDocuments
from engine.store.redis.lua_script import load_script
from engine.store.redis.outbox import RedisOutbox
from engine.store.redis.pool import create_pool
from engine.store.redis.script_connection import ScriptConnection
from engine.store.redis.stream import RedisStream
from engine.store.stream import StreamLimits

_CLAIM, _RENEW, _BEAT = load_script("claim"), load_script("renew"), load_script("heartbeat")
_COMMIT = load_script("outbox", "trim_stream", "commit")
_ENGINES = "engines"  # the key of those that live, and the channel of their comings and goings
_QUIET_S = 5.0
_strings = msgspec.msgpack.Decoder(list[str])
_packed = msgspec.msgpack.Encoder().encode
_EXISTS = 2  # what commit.lua answers
_REWOUND = 2  # and renew.lua
_PAGE = 500


class RedisStore(RedisDocuments):
    """Keys of a slot carry its hash tag: `{s3}:owner`, `:live`, `:log:…`, `:ended:…`, and more."""

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 2.0,
        kept_s: float = 86_400.0,
        bounds: StreamLimits = StreamLimits(),  # noqa: B008  frozen
        room: OutboxLimits = OutboxLimits(),  # noqa: B008  frozen
    ) -> None:
        self._limits = room
        self._timeout_s = timeout_s
        self._kept_ms = int(kept_s * 1000)
        self._stream_limits = bounds
        self._pool = create_pool(parse_address(url), timeout_s)
        self._client = Redis(connection_pool=self._pool)
        self._scripts = ScriptConnection(self._pool, timeout_s)
        self.stream = RedisStream(self._client, self._with_timeout)
        self.outbox = RedisOutbox(self._client, self._scripts, self._with_timeout, room)
        self.dial_policies = RedisDialPolicyStore(self._client, self._with_timeout)

    @property
    def connections(self) -> int:
        """See Store."""
        return self._scripts.connections

    async def claim(self, slot: int, owner: str, lease_ms: int, holder: str = "") -> int | None:
        """See Store."""
        asked = _packed((owner, lease_ms, holder))
        return int(await self._scripts.run(_CLAIM, _owner_key(slot), asked)) or None

    async def renew(self, slot: int, token: int, lease_ms: int, number: int = 0) -> bool:
        """See Store."""
        asked = _packed((token, lease_ms, number))
        answer = await self._scripts.run(_RENEW, _owner_key(slot), asked)
        if answer == _REWOUND:
            raise CommitsLost
        return answer == 1

    async def heartbeat(self, engine: str, body: str, lease_ms: int) -> dict[str, str]:
        """See Store."""
        answer = await self._scripts.run(_BEAT, _ENGINES, _packed((engine, body, lease_ms)))
        alive = _strings.decode(answer)  # type: ignore[arg-type]  # heartbeat.lua answers a string
        return dict(zip(alive[::2], alive[1::2], strict=True))

    async def owner(self, slot: int) -> str:
        """See Store."""
        owner: bytes | None = await self._with_timeout(self._client.hget(_owner_key(slot), "owner"))
        return (owner or b"").decode()

    async def membership_changes(self) -> AsyncIterator[None]:
        """See Store."""
        channel = self._client.pubsub(ignore_subscribe_messages=True)
        try:
            await self._with_timeout(channel.subscribe(_ENGINES))
            while True:
                # A word now and then finds out that the connection is dead.
                message = await self._with_timeout(channel.get_message(timeout=_QUIET_S), _QUIET_S)
                if message is not None:
                    yield
                else:
                    await self._with_timeout(channel.ping())
        finally:
            await channel.aclose()  # type: ignore[no-untyped-call]  # redis-py's own

    async def create(self, slot: int, token: int, change: Change) -> bool:
        """See Store."""
        return await self._write(slot, (token, 0), (change,), create=True) != _EXISTS

    async def commit(
        self, slot: int, token: int, changes: Sequence[Change], number: int = 0
    ) -> int:
        """See Store."""
        return max(0, -await self._write(slot, (token, number), changes, create=False))

    async def live(self, slot: int) -> AsyncIterator[tuple[str, str, bytes]]:
        """See Store."""
        cursor, seen = 0, set[bytes]()
        while True:
            scan = self._client.hscan(f"{{s{slot}}}:live", cursor, count=_PAGE)
            cursor, page = await self._with_timeout(scan)
            for call_id, record in page.items():
                if call_id not in seen:  # a growing table is scanned in part twice
                    seen.add(call_id)
                    node, _, state = record.partition(b"\0")
                    yield call_id.decode(), node.decode(), state
            if cursor == 0:
                return

    async def read(self, slot: int, call_id: str) -> bytes | None:
        """See Store."""
        both = self._client.pipeline(transaction=False)
        both.hget(f"{{s{slot}}}:live", call_id)
        both.get(f"{{s{slot}}}:ended:{call_id}")
        live, ended = await self._with_timeout(both.execute())
        record: bytes | None = live if live is not None else ended
        return None if record is None else record.partition(b"\0")[2]

    async def log(self, slot: int, call_id: str) -> list[bytes]:
        """See Store."""
        entries: list[bytes] = await self._with_timeout(
            self._client.lrange(f"{{s{slot}}}:log:{call_id}", 0, -1)
        )
        return entries

    async def ping(self) -> None:
        """See Store."""
        await self._with_timeout(self._client.ping())

    async def close(self) -> None:
        """See Store."""
        await self._scripts.close()
        await self._client.aclose()
        await self._pool.aclose()

    async def _write(
        self, slot: int, of: tuple[int, int], changes: Sequence[Change], *, create: bool
    ) -> int:
        head = (*of, self._kept_ms, self._stream_limits, create, self._limits)
        batch = encode_batch(head, changes)
        answer = await self._scripts.run(_COMMIT, _owner_key(slot), batch)
        if isinstance(answer, int):
            return answer
        raise Fenced(slot, answer.decode())


def _owner_key(slot: int) -> str:
    return f"{{s{slot}}}:owner"
