"""The data of a version whose engines owned slots of all nodes is moved to shards.

See decision 0058. The data is written here as that version wrote it.
"""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from msgspec.msgpack import encode as packed
from redis import Redis

from engine.store.errors import StoreDown
from engine.store.redis.store import RedisStore
from engine.store.stream import Consumer
from tests.harness.servers.valkey import Valkey
from tests.harness.store.stores import change, claim_shard
from tests.harness.until import MAX_WAIT_S
from wire.shard import ShardId

LIVE, OTHER = "3-pbx1-live0000", "3-pbx2-other000"
ENDED, OVER = "5-pbx2-ended000", "5-pbx2-over0000"  # with and without callbacks to deliver
FIRST, SECOND, HOME = ShardId("pbx1", 3), ShardId("pbx2", 3), ShardId("pbx1", 5)
KEY = "acme auto-set"
DAY_MS = 86_400_000
LEASE_MS = 30_000
CDR = Consumer("cdr", "api1", idle_ms=0)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def write(client: Redis) -> None:
    """Write what engines of the earlier version leave: calls of two nodes in two slots."""
    for slot in (3, 5):
        client.hset(f"{{s{slot}}}:owner", mapping={"owner": "old", "token": 7, "until": 0})
    client.hset("{s3}:live", mapping={LIVE: b"pbx1\0state 1", OTHER: b"pbx2\0state 2"})
    for call in (LIVE, OTHER):
        client.rpush(f"{{s3}}:log:{call}", b"opened", b"answered")
    client.set(f"{{s5}}:ended:{ENDED}", b"pbx2\0the end", px=50_000)
    client.set(f"{{s5}}:ended:{OVER}", b"pbx2\0done", px=50_000)
    client.rpush(f"{{s5}}:log:{ENDED}", b"opened")
    client.pexpire(f"{{s5}}:log:{ENDED}", 50_000)
    for slot, call, count in ((3, OTHER, 2), (5, ENDED, 1)):
        tag = f"{{s{slot}}}"
        client.zadd(f"{tag}:due:{call}", {f"event {number}": number for number in range(count)})
        client.hset(f"{tag}:ways", call, KEY)
        client.hset(f"{tag}:tries", call, 2)
        client.zadd(f"{tag}:outbox", {call: 1})
        client.zadd(f"{tag}:since", {call: 1})
        client.hset(f"{tag}:waiting", mapping={"acme": count, "*": count})
    for event in (b"a", b"b", b"c"):
        client.xadd("{s5}:events", {"e": event})
    client.xgroup_create("{s5}:events", "cdr", "0")
    client.xreadgroup("cdr", "api1", {"{s5}:events": ">"}, count=2)
    dead = {"c": ENDED, "w": KEY, "s": 0, "e": b"{}", "r": "timeout", "t": 6}
    client.xadd("{s5}:dead:acme", dead)  # type: ignore[arg-type]  # what it takes is narrower than what it says
    client.hset(f"{{s5}}:used:{now_ms() // DAY_MS}", "acme", 1_500)


@pytest.fixture
async def store(shared_valkey: Valkey) -> AsyncIterator[RedisStore]:
    """Return a store with that data."""
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        write(client)
    opened = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    yield opened
    await opened.close()


async def test_calls_move_to_the_shards_of_their_nodes(store: RedisStore) -> None:
    """With their logs, and with the time for which ended ones are kept."""
    await store.convert_layout("pbx1")
    assert [each async for each in store.live(FIRST)] == [(LIVE, "pbx1", b"state 1")]
    assert [each async for each in store.live(SECOND)] == [(OTHER, "pbx2", b"state 2")]
    assert await store.log(FIRST, LIVE) == [b"opened", b"answered"]
    ended = ShardId("pbx2", 5)
    assert await store.read(ended, OVER) is None  # there may be millions: they move later
    await store.move_ended_calls()
    assert await store.read(ended, OVER) == b"done"
    assert {call async for call, _state in store.ended(ended)} == {ENDED, OVER}
    assert await store.log(ended, ENDED) == [b"opened"]
    assert await store.read(ended, ENDED) == b"the end"
    left = [each.calls for each in await store.workloads([FIRST, SECOND, ended])]
    assert left == [1, 1, 0]


async def test_a_moved_call_goes_on(store: RedisStore) -> None:
    """Its log is continued, and its end is stored."""
    await store.convert_layout("pbx1")
    token = await claim_shard(store, FIRST, "new")
    end = change(LIVE, 2, live=False, state=b"over", log=(b"hung up",))
    await store.commit(FIRST, token, [end])
    assert await store.log(FIRST, LIVE) == [b"opened", b"answered", b"hung up"]
    assert await store.read(FIRST, LIVE) == b"over"


async def test_callbacks_move_with_their_calls(store: RedisStore) -> None:
    """They are due as before, with their attempts; the limits count them."""
    await store.convert_layout("pbx1")
    token = await claim_shard(store, SECOND, "new")
    batch = await store.outbox.claim_due(SECOND, token, 0, 10)
    assert [(each.call_id, each.delivery_key) for each in batch.calls] == [(OTHER, KEY)]
    assert batch.pending == 2
    found = await store.outbox.pending_events(SECOND, OTHER, 10)
    assert (found.tries, found.events) == (2, ((0, b"event 0"), (1, b"event 1")))


async def test_what_is_not_stored_by_node_moves_to_one(store: RedisStore) -> None:
    """Events with the positions of groups, dead letters, and the time that accounts have used."""
    await store.convert_layout("pbx1")
    assert [each.seq for each in await store.outbox.dead_letters(HOME, "acme", "", 9)] == [0]
    assert await store.used_ms("acme", [FIRST, HOME]) == 1_500
    batch = await store.stream.read_group(CDR, [HOME, SECOND], 0, 10)
    found = [(each.event, each.redelivered) for each in batch.entries]
    assert found == [(b"a", True), (b"b", True), (b"c", False)]


async def test_the_layout_is_known(store: RedisStore) -> None:
    """The nodes and slots that had data; a request that comes again finds its call."""
    await store.convert_layout("pbx1")
    await store.add_nodes(["pbx3"], 4)
    await store.move_ended_calls()
    layout = await store.shard_layout()
    assert (layout.slots, layout.highest) == (4, 6)
    assert set(layout.nodes) == {"pbx1", "pbx2", "pbx3"}
    assert await store.request_of("other000") == OTHER
    assert await store.request_of("ended000") == ENDED


async def test_nothing_moves_while_a_lease_runs(store: RedisStore, shared_valkey: Valkey) -> None:
    """Its owner may still write."""
    with Redis(port=shared_valkey.port) as client:
        client.hset("{s3}:owner", "until", now_ms() + LEASE_MS)
        with pytest.raises(StoreDown, match="earlier version may still own"):
            await store.convert_layout("pbx1")
        assert client.hlen("{s3}:live") == 2
        client.hset("{s3}:owner", "until", now_ms() - 1)
    await store.convert_layout("pbx1")
    assert [each async for each in store.live(SECOND)]


async def test_engines_of_the_earlier_version(store: RedisStore, shared_valkey: Valkey) -> None:
    """They are known until the conversion, after which none can own a slot again."""
    with Redis(port=shared_valkey.port) as client:
        alive, dead = packed((now_ms() + LEASE_MS, "{}")), packed((now_ms() - 5_000, "{}"))
        client.hset("engines", mapping={"one": alive, "two": dead, "foreign": b"\xc1"})
        assert await store.earlier_engines() == {"one": "{}"}
        await store.convert_layout("pbx1")
        assert await store.earlier_engines() == {}
        kinds = {client.type(f"{{s{slot}}}:owner") for slot in range(64)}
        assert kinds == {b"string"}  # on which their scripts fail


async def test_several_engines_convert_at_once(store: RedisStore, shared_valkey: Valkey) -> None:
    """And one of them again: the result is the same, and nothing of the slots is left."""
    other = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    await asyncio.gather(store.convert_layout("pbx1"), other.convert_layout("pbx1"))
    await asyncio.gather(store.move_ended_calls(), other.move_ended_calls())
    await store.convert_layout("pbx1")
    await other.close()
    assert [each async for each in store.live(FIRST)] == [(LIVE, "pbx1", b"state 1")]
    token = await claim_shard(store, SECOND, "new")
    assert (await store.outbox.claim_due(SECOND, token, 0, 10)).pending == 2
    with Redis(port=shared_valkey.port) as client:
        left = set(client.keys("{s*}:*"))
        assert left == {b"{s%d}:owner" % slot for slot in range(64)}


async def test_a_store_without_data(shared_valkey: Valkey) -> None:
    """Nothing is written but that there is nothing to convert."""
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        fresh = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
        await fresh.convert_layout("pbx1")
        await fresh.close()
        assert client.keys("*") == [b"shards"]
