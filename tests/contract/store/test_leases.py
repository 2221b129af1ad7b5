"""Leases of slots and the engines that hold them, in every store."""

import asyncio
from itertools import count

import pytest
from msgspec.msgpack import encode as packed
from redis import Redis

from engine.store.errors import CommitsLost
from engine.store.redis.store import RedisStore
from engine.store.store import Store
from tests.contract.store.stores import change, claimed
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

LEASE_MS = 60_000
SHORT_MS = 200


async def test_a_running_lease_keeps_others_out(store: Store) -> None:
    """While it runs, nobody else is given the slot; its owner is, with a larger token."""
    first = await store.claim(3, "engine1", LEASE_MS)
    assert first is not None
    assert await store.claim(3, "engine2", LEASE_MS) is None
    again = await store.claim(3, "engine1", LEASE_MS)
    assert again is not None
    assert again > first
    assert await store.owner(3) == "engine1"


async def test_a_lease_that_ran_out_is_anybodys(store: Store) -> None:
    """After its time a slot can be claimed, and the old owner can renew no more."""
    old = await claimed(store, 3, "engine1")
    new = await store.claim(3, "engine2", LEASE_MS)
    assert new is not None
    assert new > old
    assert not await store.renew(3, old, LEASE_MS)
    assert await store.owner(3) == "engine2"


async def test_a_lease_is_renewed(store: Store) -> None:
    """A lease that was about to end runs on."""
    token = await claimed(store, 3, "engine1")
    assert await store.renew(3, token, LEASE_MS)
    assert await store.claim(3, "engine2", LEASE_MS) is None


async def test_a_store_that_has_lost_batches_says_so(store: Store) -> None:
    """Who renews says what was answered last; if the store lacks it, that is told, once it runs."""
    token = await claimed(store, 3, "engine1")
    for _ in range(2):
        await store.commit(3, token, [change()], 7)
    assert await store.renew(3, token, LEASE_MS, 7)
    with pytest.raises(CommitsLost):
        await store.renew(3, token, LEASE_MS, 8)
    assert await store.claim(3, "engine2", LEASE_MS) is None
    assert await store.claim(3, "engine1", LEASE_MS) is not None  # who claims counts anew


async def test_a_slot_is_given_back(store: Store) -> None:
    """A lease renewed for no time is free at once."""
    token = await store.claim(3, "engine1", LEASE_MS)
    assert token is not None
    assert await store.renew(3, token, 0)
    assert await store.claim(3, "engine2", LEASE_MS) is not None


async def test_a_slot_that_somebody_says_he_has(store: Store) -> None:
    """By whichever clock its lease has run out: it is free when it was given back, not before."""
    token = await claimed(store, 3, "engine1")
    assert await store.claim(3, "engine2", LEASE_MS, "engine1") is None
    assert await store.claim(3, "engine1", 0, "engine1") is not None
    token = await claimed(store, 3, "engine1")
    assert await store.renew(3, token, 0)
    assert await store.claim(3, "engine2", LEASE_MS, "engine1") is not None


async def test_a_slot_that_the_store_has_lost_and_somebody_says_he_has(store: Store) -> None:
    """It is his to claim anew."""
    assert await store.claim(4, "engine2", LEASE_MS, "engine1") is None
    assert await store.claim(4, "engine1", LEASE_MS) is not None


async def test_a_slot_that_another_had_after_him(store: Store) -> None:
    """Whose word is older than the store's is not believed: he has not heard yet."""
    await claimed(store, 3, "engine1")
    await claimed(store, 3, "engine2")
    assert await store.claim(3, "engine3", LEASE_MS, "engine1") is not None


async def test_a_slot_that_nobody_held(store: Store) -> None:
    """It has no owner and can't be renewed."""
    assert await store.owner(5) == ""
    assert not await store.renew(5, 7, LEASE_MS)


async def test_engines_know_each_other(store: Store) -> None:
    """Each beat tells all engines that live, with what they say of themselves, until they leave."""
    assert await store.heartbeat("engine1", '{"url":"a"}', LEASE_MS) == {"engine1": '{"url":"a"}'}
    both = await store.heartbeat("engine2", '{"url":"ü"}', LEASE_MS)
    assert both == {"engine1": '{"url":"a"}', "engine2": '{"url":"ü"}'}
    assert await store.heartbeat("engine1", "", 0) == {"engine2": '{"url":"ü"}'}


async def test_who_is_silent_is_forgotten(store: Store) -> None:
    """By the next beat of an engine that is in time itself."""
    await store.heartbeat("engine1", "{}", LEASE_MS)
    await store.heartbeat("engine2", "{}", SHORT_MS)
    await _passed(store, SHORT_MS)
    assert await store.heartbeat("engine1", "{}", LEASE_MS) == {"engine1": "{}"}


async def test_who_is_late_itself_forgets_nobody(store: Store) -> None:
    """The clock of the store's host may have been set: everybody has time to beat again."""
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
async def test_what_no_engine_wrote_is_taken_away(shared_valkey: Valkey, field: bytes) -> None:
    """Among the engines, under a name of nobody or an engine's own: all beat on without it."""
    store = RedisStore(shared_valkey.url)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        client.hset("engines", mapping={"nobody": field, "engine1": field})
        assert await store.heartbeat("engine1", "{}", LEASE_MS) == {"engine1": "{}"}
        assert await store.heartbeat("engine2", "{}", LEASE_MS) == {
            "engine1": "{}",
            "engine2": "{}",
        }
        assert client.hkeys("engines") == [b"engine1", b"engine2"]
        client.hset("engines", "engine1", field)
        assert await store.heartbeat("engine1", "", 0) == {"engine2": "{}"}
    await store.close()


async def test_comings_and_goings_are_told(store: Store) -> None:
    """An engine that comes or goes and a slot that is given back wake who waits; beats do not."""
    heard: list[int] = []
    numbers = count()
    listener = asyncio.create_task(_listen(store, heard))

    async def somebody_came() -> bool:
        await store.heartbeat(f"engine{next(numbers)}", "{}", LEASE_MS)
        return bool(heard)

    try:
        await until(somebody_came)  # told from the moment that the listener is there
        told = len(heard)
        token = await store.claim(3, "engine1", LEASE_MS)
        assert token is not None
        await store.heartbeat("engine0", "{}", LEASE_MS)
        await store.renew(3, token, 0)
        await until(lambda: len(heard) > told)
        await store.heartbeat("engine0", "", 0)
        await until(lambda: len(heard) > told + 1)
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


async def _passed(store: Store, passing_ms: int) -> None:
    """Let so much time pass by the store's own clock."""
    assert await store.claim(7, "engine1", passing_ms) is not None

    async def is_free() -> bool:
        return await store.claim(7, "engine2", passing_ms) is not None

    await until(is_free)


async def _listen(store: Store, heard: list[int]) -> None:
    async for _ in store.membership_changes():
        heard.append(len(heard))
