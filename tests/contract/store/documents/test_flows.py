"""Flows and API requests in every store: immutable versions, separate accounts."""

import msgspec
from redis import Redis

from engine.store.redis.store import RedisStore
from engine.store.store import Store
from engine.store.versioned_documents import DELETION_KEPT_MS, VersionedDocument
from tests.harness.servers.valkey import Valkey
from tests.harness.store.documents import put_document, put_flow, put_request
from tests.harness.until import MAX_WAIT_S
from wire.documents.versioned import FlowState
from wire.flow import MAX_CALL_S


async def test_a_version_never_changes(store: Store) -> None:
    """Each put gives the next number; earlier versions are read as they were."""
    for number in (1, 2, 3):
        assert await put_flow(store, "a1", "f1", b"%d" % number) == number
    assert await store.flow("a1", "f1") == (3, b"3")
    assert [await store.flow("a1", "f1", number) for number in (1, 2)] == [(1, b"1"), (2, b"2")]
    assert await store.flow("a1", "f1", 4) is None
    assert await store.flow("a2", "f1", 1) is None


async def test_a_deleted_flow_is_kept_for_calls_that_run_it(store: Store) -> None:
    """It is not found; its versions are readable by number, also when it is stored again."""
    await put_flow(store, "a1", "f1", b"1")
    await put_flow(store, "a1", "f2", b"2")
    await put_document(store, "a1", "flow", "f1", None)
    await put_document(store, "a2", "flow", "f2", None)
    assert await store.flow("a1", "f1") is None
    assert await store.flow("a1", "f2") == (1, b"2")
    assert await store.flow("a1", "f1", 1) == (1, b"1")
    await store.documents.put_flow_version("a1", "f1", 2, b"new")
    await put_document(store, "a1", "flow", "f1", msgspec.json.encode(FlowState(2, 2)))
    assert await store.flow("a1", "f1") == (2, b"new")
    assert await store.flow("a1", "f1", 1) == (1, b"1")


async def test_a_deleted_flow_outlives_the_longest_call(shared_valkey: Valkey) -> None:
    """Its versions are kept for as long as a call may last."""
    store = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        await put_flow(store, "a1", "f1", b"1")
        before = set(client.keys())
        await put_document(store, "a1", "flow", "f1", None)
        times_s = [client.ttl(each) for each in before & set(client.keys())]
        assert MAX_CALL_S - 60 < max(times_s) <= MAX_CALL_S
        await put_flow(store, "a1", "f1", b"1")
        assert {client.ttl(each) for each in before} == {-1}
    await store.close()


async def test_nothing_is_left_of_a_flow_that_was_deleted_long_ago(shared_valkey: Valkey) -> None:
    """Its versions expire, and the next change removes what remembers the deletion."""
    store = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    with Redis(port=shared_valkey.port) as client:
        client.flushall()
        long_ago = await store.time_ms() - DELETION_KEPT_MS - 10
        deletion = VersionedDocument("f1", long_ago, None)
        assert await store.documents.put("a1", "flow", [deletion]) == [long_ago]
        await put_flow(store, "a1", "f2", b"2")
        assert client.hkeys("flows:{a1}") == [b"f2"]
        assert client.zcard("flows:{a1}:deleted") == 0
    await store.close()


async def test_api_requests_are_kept_by_account(store: Store) -> None:
    """An API request is put, replaced, listed and deleted within its account only."""
    await put_request(store, "a1", "r1", b"{1}")
    await put_request(store, "a1", "r1", b"{2}")
    await put_request(store, "a1", "r2", b"{3}")
    assert await store.request("a1", "r1") == b"{2}"
    assert await store.request("a2", "r1") is None
    assert await store.requests("a1", ["r1", "r2"]) == {"r1": b"{2}", "r2": b"{3}"}
    assert await store.requests("a1", []) == {}
    assert await store.requests("a1", ["r0", "r2"]) == {"r2": b"{3}"}
    await put_request(store, "a1", "r1", None)
    assert await store.requests("a1", ["r1", "r2"]) == {"r2": b"{3}"}
