"""Agents' phones in every store: credentials and their changes, and whose an endpoint is."""

import asyncio

import msgspec
from redis import Redis

from engine.store.phones import RESERVED_MS
from engine.store.redis.store import RedisStore
from engine.store.store import MAX_CHANGES, Store
from engine.store.versioned_documents import VersionedDocument
from tests.harness.api.manual_clock import ManualClock
from tests.harness.memory_store.store import MemoryStore
from tests.harness.servers.valkey import Valkey
from tests.harness.store.documents import put_document, put_phone

MAX_POLLS_BYTES = 20_000  # of ten polls, and of the measurement itself


def phone(number: int, account: str = "a1") -> bytes:
    """Return credentials."""
    return msgspec.json.encode({"account": account, "agent_id": f"{number}"})


async def delete(store: Store, name: str) -> None:
    """Delete the credentials of a phone of a1."""
    await put_document(store, "a1", "phone", name, None)


async def test_phones_are_put_replaced_and_deleted(store: Store) -> None:
    """Credentials are kept by endpoint, over all accounts; a deletion is known for a while."""
    await put_phone(store, "1001", phone(1))
    await put_phone(store, "sales7", phone(2, "a2"))
    await put_phone(store, "1001", phone(3))
    assert await store.phones.all() == {"1001": phone(3), "sales7": phone(2, "a2")}
    assert await store.phones.read("1001") == (phone(3), True)
    await delete(store, "1001")
    assert await store.phones.all() == {"sales7": phone(2, "a2")}
    assert await store.phones.read("1001") == (None, True)
    assert await store.phones.read("1002") == (None, False)


async def test_changes_of_phones(store: Store) -> None:
    """First everything with what was deleted, then what has changed since, over all accounts."""
    await put_phone(store, "1001", phone(1))
    await put_phone(store, "1002", phone(2))
    await delete(store, "1002")
    found, position = await store.phones.changes("")
    assert found == {"1001": phone(1), "1002": None}
    assert await store.phones.changes(position) == ({}, position)
    await put_phone(store, "1003", phone(3, "a2"))
    await delete(store, "1001")
    found, last = await store.phones.changes(position)
    assert found == {"1003": phone(3, "a2"), "1001": None}
    assert await store.phones.changes(last) == ({}, last)


async def test_the_first_changes_of_an_empty_store(store: Store) -> None:
    """They are read from the position before any."""
    found, position = await store.phones.changes("")
    assert found == {}
    assert await store.phones.changes(position) == ({}, position)
    await put_phone(store, "1001", phone(1))
    assert (await store.phones.changes(position))[0] == {"1001": phone(1)}


async def test_after_many_changes_everything_is_read(store: Store) -> None:
    """An engine that was away for long reads no long list of names."""
    await put_phone(store, "old", phone(0))
    _, position = await store.phones.changes("")
    many = [VersionedDocument(f"{number}", 1, phone(number)) for number in range(MAX_CHANGES + 1)]
    await store.documents.put("a1", "phone", many)
    assert (await store.phones.changes(position))[0].keys() == {"old", *(each.id for each in many)}


async def test_changes_of_a_store_that_lost_everything(shared_valkey: Valkey) -> None:
    """Everything is read again, which is no deletion of what was lost, also if clocks went back."""
    store = RedisStore(shared_valkey.url)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        await put_phone(store, "1001", phone(1))
        _, position = await store.phones.changes("")
        client.flushall()
        found, empty = await store.phones.changes(position)
        assert found == {}
        await put_phone(store, "1002", phone(2))
        for known in (position, empty):
            assert (await store.phones.changes(known))[0] == {"1002": phone(2)}
    await store.close()


async def test_an_engine_that_was_away_for_hours_misses_no_deletion(shared_valkey: Valkey) -> None:
    """Also if it had read no change before: the password would stay valid at its PBX node."""
    store = RedisStore(shared_valkey.url)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        _, position = await store.phones.changes("")
        await put_phone(store, "1001", phone(1))
        await delete(store, "1001")
        for key in client.scan_iter():
            if client.ttl(key) > 0:  # hours later
                client.delete(key)
        assert (await store.phones.changes(position))[0] == {"1001": None}
    await store.close()


async def test_ten_thousand_phones_cost_little(shared_valkey: Valkey) -> None:
    """An engine reads them once; after that a poll without changes gets a few bytes."""
    store = RedisStore(shared_valkey.url)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        many = [VersionedDocument(f"{number}", 1, phone(number)) for number in range(10_000)]
        await store.documents.put("a1", "phone", many)
        found, position = await store.phones.changes("")
        assert len(found) == len(many)
        before = client.info("stats")["total_net_output_bytes"]
        for _ in range(10):
            assert await store.phones.changes(position) == ({}, position)
        after = client.info("stats")["total_net_output_bytes"]
        assert after - before < MAX_POLLS_BYTES
    await store.close()


async def test_an_endpoint_belongs_to_one_account(store: Store) -> None:
    """The first account keeps it until that account releases it."""
    phones = store.phones
    assert await phones.claim("PJSIP/1", "a1") == "a1"
    assert await phones.claim("PJSIP/1", "a2") == "a1"
    assert await phones.reserve("PJSIP/1", "a2") == "a1"
    await phones.release("PJSIP/1", "a2")
    assert await phones.owner("PJSIP/1") == "a1"
    await phones.release("PJSIP/1", "a1")
    assert await phones.owner("PJSIP/1") is None
    assert await phones.claim("PJSIP/1", "a2") == "a2"


async def test_a_reserved_endpoint(store: Store) -> None:
    """No other account can claim it, nor is it released as unused; but it belongs to none yet."""
    phones = store.phones
    assert await phones.reserve("PJSIP/1", "a1") == "a1"
    assert await phones.owner("PJSIP/1") is None
    assert await phones.claim("PJSIP/1", "a2") == "a1"
    assert await phones.claim("PJSIP/1", "a1") == "a1"
    await phones.release_unused("PJSIP/1", "a1")
    assert await phones.owner("PJSIP/1") == "a1"


async def test_of_two_accounts_one_gets_an_endpoint(store: Store) -> None:
    """Whichever was first."""
    accounts = [f"a{number}" for number in range(8)]
    found = await asyncio.gather(*(store.phones.reserve("PJSIP/1", each) for each in accounts))
    assert len(set(found)) == 1
    found = await asyncio.gather(*(store.phones.claim("PJSIP/1", each) for each in accounts))
    assert len(set(found)) == 1


async def test_a_reservation_ends() -> None:
    """Then the endpoint is free again, and a claim that nothing has used can be released."""
    clock = ManualClock()
    phones = MemoryStore(clock).phones
    await phones.reserve("PJSIP/1", "a1")
    await phones.claim("PJSIP/2", "a1")
    clock.now += RESERVED_MS
    assert await phones.claim("PJSIP/1", "a2") == "a2"
    assert await phones.claim("PJSIP/2", "a2") == "a1"
    await phones.release_unused("PJSIP/2", "a1")
    assert await phones.claim("PJSIP/2", "a2") == "a2"


async def test_a_server_ends_a_reservation(shared_valkey: Valkey) -> None:
    """Its key expires."""
    store = RedisStore(shared_valkey.url)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        await store.phones.reserve("PJSIP/1", "a1")
        (key,) = client.keys("{agent-endpoints}:reserved:*")
        left_ms = client.pttl(key)
        assert isinstance(left_ms, int)
        assert 0 < left_ms <= RESERVED_MS
        client.delete(key)
    assert await store.phones.claim("PJSIP/1", "a2") == "a2"
    await store.close()
