"""Shard leases and engine membership, in every store."""

import asyncio
from itertools import count

import pytest
from msgspec.msgpack import encode as packed
from redis import Redis

from engine.store.errors import CommitsLost
from engine.store.redis.store import RedisStore
from engine.store.store import Store
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import at
from tests.harness.store.stores import change, claim_shard
from tests.harness.until import MAX_WAIT_S, until

LEASE_MS = 60_000
SHORT_MS = 200


async def test_a_running_lease_excludes_others(store: Store) -> None:
    """Only its owner can claim the shard again, with a larger token."""
    first = await store.claim(at(3), "engine1", LEASE_MS)
    assert first is not None
    assert await store.claim(at(3), "engine2", LEASE_MS) is None
    again = await store.claim(at(3), "engine1", LEASE_MS)
    assert again is not None
    assert again > first
    assert await store.owner(at(3)) == "engine1"


async def test_an_expired_lease_is_free(store: Store) -> None:
    """After expiry another engine can claim the shard, and the old owner cannot renew."""
    old = await claim_shard(store, at(3), "engine1")
    new = await store.claim(at(3), "engine2", LEASE_MS)
    assert new is not None
    assert new > old
    assert not await store.renew(at(3), old, LEASE_MS)
    assert await store.owner(at(3)) == "engine2"


async def test_a_lease_is_renewed(store: Store) -> None:
    """Renewal extends a lease."""
    token = await claim_shard(store, at(3), "engine1")
    assert await store.renew(at(3), token, LEASE_MS)
    assert await store.claim(at(3), "engine2", LEASE_MS) is None


async def test_when_the_last_owner_was_seen(store: Store) -> None:
    """The next owner learns when the one before last renewed or released its lease."""
    token = await claim_shard(store, at(3), "engine1")
    assert await store.last_seen_ms(at(3)) == 0
    await store.renew(at(3), token, LEASE_MS)
    await store.renew(at(3), token, 0)
    token = await store.claim(at(3), "engine2", LEASE_MS) or 0
    seen_ms = await store.last_seen_ms(at(3))
    assert seen_ms > 0
    await store.renew(at(3), token, LEASE_MS)
    assert await store.last_seen_ms(at(3)) == seen_ms


async def test_lost_batches_are_detected(store: Store) -> None:
    """Renewal passes the last acknowledged batch; the store reports if it is lost."""
    token = await claim_shard(store, at(3), "engine1")
    for _ in range(2):
        await store.commit(at(3), token, [change()], 7)
    assert await store.renew(at(3), token, LEASE_MS, 7)
    with pytest.raises(CommitsLost):
        await store.renew(at(3), token, LEASE_MS, 8)
    assert await store.claim(at(3), "engine2", LEASE_MS) is None
    assert await store.claim(at(3), "engine1", LEASE_MS) is not None  # a claim restarts numbering


async def test_a_shard_is_released(store: Store) -> None:
    """A lease renewed for 0 ms is free at once."""
    token = await store.claim(at(3), "engine1", LEASE_MS)
    assert token is not None
    assert await store.renew(at(3), token, 0)
    assert await store.claim(at(3), "engine2", LEASE_MS) is not None


async def test_a_shard_that_a_live_engine_claims_to_hold(store: Store) -> None:
    """It is free only after its release, at any time of the clock."""
    token = await claim_shard(store, at(3), "engine1")
    assert await store.claim(at(3), "engine2", LEASE_MS, "engine1") is None
    assert await store.claim(at(3), "engine1", 0, "engine1") is not None
    token = await claim_shard(store, at(3), "engine1")
    assert await store.renew(at(3), token, 0)
    assert await store.claim(at(3), "engine2", LEASE_MS, "engine1") is not None


async def test_a_lost_shard_that_a_live_engine_claims_to_hold(store: Store) -> None:
    """Only the holder can claim it again."""
    assert await store.claim(at(4), "engine2", LEASE_MS, "engine1") is None
    assert await store.claim(at(4), "engine1", LEASE_MS) is not None


async def test_a_shard_with_a_later_owner(store: Store) -> None:
    """A holder's claim is ignored when another engine owned the shard after it."""
    await claim_shard(store, at(3), "engine1")
    await claim_shard(store, at(3), "engine2")
    assert await store.claim(at(3), "engine3", LEASE_MS, "engine1") is not None


async def test_a_shard_without_an_owner(store: Store) -> None:
    """An unclaimed shard has no owner and cannot be renewed."""
    assert await store.owner(at(5)) == ""
    assert not await store.renew(at(5), 7, LEASE_MS)


async def test_engines_know_each_other(store: Store) -> None:
    """A heartbeat returns all live engines with their data, until they leave."""
    assert await store.heartbeat("engine1", '{"url":"a"}', LEASE_MS) == {"engine1": '{"url":"a"}'}
    both = await store.heartbeat("engine2", '{"url":"ü"}', LEASE_MS)
    assert both == {"engine1": '{"url":"a"}', "engine2": '{"url":"ü"}'}
    assert await store.heartbeat("engine1", "", 0) == {"engine2": '{"url":"ü"}'}


async def test_a_silent_engine_expires(store: Store) -> None:
    """At the next heartbeat of an engine that is on time itself."""
    await store.heartbeat("engine1", "{}", LEASE_MS)
    await store.heartbeat("engine2", "{}", SHORT_MS)
    await _passed(store, SHORT_MS)
    assert await store.heartbeat("engine1", "{}", LEASE_MS) == {"engine1": "{}"}


async def test_a_late_heartbeat_expires_no_peer(store: Store) -> None:
    """The clock of the store's host may have changed: all leases are extended."""
    await store.heartbeat("engine1", "{}", SHORT_MS)
    await store.heartbeat("engine2", "{}", SHORT_MS)
    await _passed(store, SHORT_MS)
    assert (await store.heartbeat("engine1", "{}", LEASE_MS)).keys() == {"engine1", "engine2"}
    assert (await store.heartbeat("engine3", "{}", LEASE_MS)).keys() == {
        "engine1",
        "engine2",
        "engine3",
    }


@pytest.mark.parametrize(
    "field", [b"", b"{}", b"\xc1", b"\x92\x01", packed(("1", 2)), packed((1,))]
)
async def test_foreign_fields_are_deleted(shared_valkey: Valkey, field: bytes) -> None:
    """Invalid fields among the engines, under any name, do not disturb heartbeats."""
    store = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        client.hset("members", mapping={"nobody": field, "engine1": field})
        assert await store.heartbeat("engine1", "{}", LEASE_MS) == {"engine1": "{}"}
        assert await store.heartbeat("engine2", "{}", LEASE_MS) == {
            "engine1": "{}",
            "engine2": "{}",
        }
        assert client.hkeys("members") == [b"engine1", b"engine2"]
        client.hset("members", "engine1", field)
        assert await store.heartbeat("engine1", "", 0) == {"engine2": "{}"}
    await store.close()


async def test_membership_changes_are_published(store: Store) -> None:
    """Engines that join or leave and released shards wake listeners; heartbeats do not."""
    changes: list[int] = []
    numbers = count()
    listener = asyncio.create_task(_listen(store, changes))

    async def engine_joined() -> bool:
        await store.heartbeat(f"engine{next(numbers)}", "{}", LEASE_MS)
        return bool(changes)

    try:
        await until(engine_joined)  # published once the listener has subscribed
        before = len(changes)
        token = await store.claim(at(3), "engine1", LEASE_MS)
        assert token is not None
        await store.heartbeat("engine0", "{}", LEASE_MS)
        await store.renew(at(3), token, 0)
        await until(lambda: len(changes) > before)
        await store.heartbeat("engine0", "", 0)
        await until(lambda: len(changes) > before + 1)
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


async def _passed(store: Store, duration_ms: int) -> None:
    """Wait for some time by the store's own clock."""
    assert await store.claim(at(7), "engine1", duration_ms) is not None

    async def is_free() -> bool:
        return await store.claim(at(7), "engine2", duration_ms) is not None

    await until(is_free)


async def _listen(store: Store, changes: list[int]) -> None:
    async for _ in store.membership_changes():
        changes.append(len(changes))
