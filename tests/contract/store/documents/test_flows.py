"""Flows and API requests in every store: immutable versions, separate accounts."""

import asyncio

import msgspec
from redis import Redis

from engine.store.redis.store import RedisStore
from engine.store.store import MAX_FLOW_VERSIONS, Store
from engine.store.versioned_documents import DELETION_KEPT_MS, VersionedDocument
from tests.harness.servers.valkey import Valkey
from tests.harness.until import MAX_WAIT_S
from wire.documents.versioned import FlowState
from wire.flow import MAX_CALL_S


async def test_a_version_never_changes(store: Store) -> None:
    """Each put gives the next number; earlier versions are read as they were."""
    for number in (1, 2, 3):
        assert await store.put_flow("a1", "f1", b"%d" % number) == number
    assert await store.flow("a1", "f1") == (3, b"3")
    assert [await store.flow("a1", "f1", number) for number in (1, 2)] == [(1, b"1"), (2, b"2")]
    assert await store.flow("a1", "f1", 4) is None
    assert await store.flow("a2", "f1", 1) is None
    assert await store.flow_versions("a1", "f1") == [1, 2, 3]
    assert await store.flow_versions("a2", "f1") == []


async def test_concurrent_puts_get_separate_versions(store: Store) -> None:
    """Each of many concurrent puts gets its own version; the last is the newest."""
    bodies = [b"%d" % number for number in range(20)]
    versions = await asyncio.gather(*(store.put_flow("a1", "f1", body) for body in bodies))
    assert sorted(versions) == list(range(1, 21))
    for version, body in zip(versions, bodies, strict=True):
        assert await store.flow("a1", "f1", version) == (version, body)
    assert await store.flows("a1") == {"f1": 20}


async def test_old_versions_are_deleted(store: Store) -> None:
    """The number of versions is limited."""
    for number in range(MAX_FLOW_VERSIONS + 2):
        await store.put_flow("a1", "f1", b"%d" % number)
    kept = await store.flow_versions("a1", "f1")
    assert (len(kept), kept[0]) == (MAX_FLOW_VERSIONS, 3)


async def test_a_deleted_flow_is_kept_for_calls_that_run_it(store: Store) -> None:
    """It is not listed; its versions are readable by number, and the next has a new number."""
    await store.put_flow("a1", "f1", b"1")
    await store.put_flow("a1", "f2", b"2")
    assert await store.delete_flow("a1", "f1")
    assert not await store.delete_flow("a1", "f1")
    assert not await store.delete_flow("a2", "f2")
    assert await store.flow("a1", "f1") is None
    assert await store.flows("a1") == {"f2": 1}
    assert await store.flow("a1", "f1", 1) == (1, b"1")
    assert await store.put_flow("a1", "f1", b"new") == 2
    assert await store.flow("a1", "f1") == (2, b"new")


async def test_a_deleted_flow_outlives_the_longest_call(shared_valkey: Valkey) -> None:
    """Its versions are kept for as long as a call may last."""
    store = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        await store.put_flow("a1", "f1", b"1")
        before = set(client.keys())
        await store.delete_flow("a1", "f1")
        times_s = [client.ttl(each) for each in before & set(client.keys())]
        assert MAX_CALL_S - 60 < max(times_s) <= MAX_CALL_S
    await store.close()


async def test_nothing_is_left_of_a_flow_that_was_deleted_long_ago(shared_valkey: Valkey) -> None:
    """Its number stays as long as its versions; both are removed, with the next change."""
    store = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        long_ago = await store.time_ms() - DELETION_KEPT_MS - 10
        state = msgspec.json.encode(FlowState(3, 3))
        await store.documents.put_flow_version("a1", "f1", 3, b"3")
        for version, body in ((long_ago, state), (long_ago + 2, None)):
            document = VersionedDocument("f1", version, body)
            assert await store.documents.put("a1", "flow", [document]) == [version]
        await store.put_flow("a1", "f2", b"1")
        assert await store.put_flow("a1", "f1", b"4") == 4
        await store.delete_flow("a1", "f1")
        client.unlink("flow:{a1}:f1")  # as a server does when they expire
        client.zadd("flows:{a1}:deleted", {"f1": long_ago})
        await store.put_flow("a1", "f2", b"2")
        assert client.hkeys("flows:{a1}") == [b"f2:last", b"f2"]
        assert client.zcard("flows:{a1}:deleted") == 0
        assert await store.put_flow("a1", "f1", b"1") == 1
    await store.close()


async def test_api_requests_are_kept_by_account(store: Store) -> None:
    """An API request is put, replaced, listed and deleted within its account only."""
    await store.put_request("a1", "r1", b"{1}")
    await store.put_request("a1", "r1", b"{2}")
    await store.put_request("a1", "r2", b"{3}")
    assert await store.request("a1", "r1") == b"{2}"
    assert await store.request("a2", "r1") is None
    assert await store.requests("a1") == {"r1": b"{2}", "r2": b"{3}"}
    assert await store.requests("a1", ["r0", "r2"]) == {"r2": b"{3}"}
    await store.put_request("a1", "r1", None)
    assert await store.requests("a1") == {"r2": b"{3}"}
