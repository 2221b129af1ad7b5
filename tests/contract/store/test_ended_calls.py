"""Ended calls are compressed, and read as before."""

from functools import partial

from msgspec.structs import replace

from engine.store.compressed_call import DICTIONARY, PIECE_LINES
from engine.store.store import Store
from tests.harness.shards import at
from tests.harness.store.stores import Opener, change, claim_shard, live_calls
from tests.harness.until import until

LOG = [b"\xc1entry 0", b"\xc1entry 1"]


async def compress(store: Store, token: int, *, after_ms: int = -5_000, limit: int = 10) -> int:
    """Compress the calls of shard 3, by default whenever they ended."""
    return await store.compress_ended({at(3): token}, after_ms, limit, DICTIONARY)


async def end_call(store: Store, token: int, call_id: str = "c1") -> None:
    """Store a call, and its end."""
    await store.commit(at(3), token, [change(call_id)])
    await store.commit(at(3), token, [change(call_id, seq=1, state=b"over", live=False)])


async def test_a_compressed_call_reads_as_before(store: Store) -> None:
    """Its state, its log, and its place among the ended calls; its id is still taken."""
    token = await claim_shard(store, at(3))
    await end_call(store, token)
    await store.commit(at(3), token, [change("c2")])
    assert await compress(store, token) == 1
    assert (await store.read(at(3), "c1"), await store.log(at(3), "c1")) == (b"over", LOG)
    assert [each async for each in store.ended(at(3))] == [("c1", b"over")]
    assert [call_id for call_id, _, _ in await live_calls(store)] == ["c2"]
    assert not await store.create(at(3), token, change(state=b"another"))
    assert await compress(store, token) == 0


async def test_a_call_is_compressed_some_time_after_its_end(store: Store) -> None:
    """Not before; the oldest go first, and at most so many at once."""
    token = await claim_shard(store, at(3))
    for call_id in ("c1", "c2", "c3"):
        await end_call(store, token, call_id)
    assert await compress(store, token, after_ms=60_000) == 0
    assert [await compress(store, token, limit=2) for _ in range(3)] == [2, 1, 0]
    assert await store.log(at(3), "c3") == LOG
    assert await store.log(at(3), "c3", 1) == LOG[1:]


async def test_the_next_owner_compresses(store: Store) -> None:
    """An engine that has lost the shard compresses nothing."""
    before = await claim_shard(store, at(3))
    await end_call(store, before)
    token = await claim_shard(store, at(3), "engine2")
    assert await compress(store, before) == 0
    assert await compress(store, token) == 1
    assert await store.log(at(3), "c1") == LOG


async def test_a_repeated_commit_of_a_compressed_call_is_harmless(store: Store) -> None:
    """Neither its beginning nor its end is stored again."""
    token = await claim_shard(store, at(3))
    await end_call(store, token)
    await compress(store, token)
    await store.commit(at(3), token, [change(events=(b"again",))])
    await store.commit(at(3), token, [change(seq=1, live=False, events=(b"again",))])
    assert (await store.read(at(3), "c1"), await store.log(at(3), "c1")) == (b"over", LOG)
    assert await live_calls(store) == []
    assert await store.stream.read_after({at(3): "0"}) == []


async def test_a_change_after_the_compression_is_stored(store: Store) -> None:
    """Its line has its number; the lines before it read as lost. It is compressed in turn."""
    token = await claim_shard(store, at(3))
    await end_call(store, token)
    await compress(store, token)
    await store.commit(at(3), token, [change(seq=2, state=b"later", live=False)])
    for _ in range(2):
        assert await store.read(at(3), "c1") == b"later"
        assert await store.log(at(3), "c1") == [b"", b"", b"\xc1entry 2"]
        await compress(store, token)


async def test_a_forgotten_call_is_not_compressed(store: Store) -> None:
    """Nothing of it comes back, whether it was compressed or waits for it."""
    token = await claim_shard(store, at(3))
    for call_id in ("c1", "c2"):
        await end_call(store, token, call_id)
        await store.forget(at(3), call_id)
        await compress(store, token)
    await end_call(store, token, "c3")
    await compress(store, token)
    await store.forget(at(3), "c3")
    assert [each async for each in store.ended(at(3))] == []
    assert await compress(store, token) == 0
    for call_id in ("c1", "c2", "c3"):
        assert (await store.read(at(3), call_id), await store.log(at(3), call_id)) == (None, [])


LONG = [b"\xc1line %d" % number for number in range(2 * PIECE_LINES + 7)]


async def end_long_call(store: Store, token: int, call_id: str = "long") -> None:
    """Store a call with a log of several pieces, and its end."""
    for first in range(0, len(LONG), 100):
        part = change(call_id, seq=first, live=first + 100 < len(LONG))
        log = tuple(LONG[first : first + 100])
        await store.commit(at(3), token, [replace(part, log=log, state=b"state")])


async def test_a_long_call_reads_as_before(store: Store) -> None:
    """From any line on, before and after it is compressed, which a short call does not wait for."""
    token = await claim_shard(store, at(3))
    await end_long_call(store, token)
    await end_call(store, token)
    for _ in range(2):
        for first in (0, 1, PIECE_LINES - 1, PIECE_LINES, 2 * PIECE_LINES + 6, len(LONG)):
            assert await store.log(at(3), "long", first) == LONG[first:], first
        assert await store.read(at(3), "long") == b"state"
        assert await store.log(at(3), "c1") == LOG
        await compress(store, token)
    found = {call_id: state async for call_id, state in store.ended(at(3))}
    assert found == {"long": b"state", "c1": b"over"}
    assert await compress(store, token) == 0
    await store.forget(at(3), "long")
    assert (await store.read(at(3), "long"), await store.log(at(3), "long")) == (None, [])


async def test_a_long_call_that_changes_is_compressed_again(store: Store) -> None:
    """What it was compressed to is of no use any more."""
    token = await claim_shard(store, at(3))
    await end_long_call(store, token)
    await compress(store, token)
    late = replace(change("long", seq=len(LONG), live=False, state=b"late"), log=(b"\xc1late",))
    await store.commit(at(3), token, [late])
    for _ in range(2):
        assert await store.read(at(3), "long") == b"late"
        assert await store.log(at(3), "long") == [*[b""] * len(LONG), b"\xc1late"]
        await compress(store, token)


async def test_the_next_owner_compresses_a_long_call(store: Store) -> None:
    """An engine that has lost the shard adds no piece."""
    before = await claim_shard(store, at(3))
    await end_long_call(store, before)
    token = await claim_shard(store, at(3), "engine2")
    assert await compress(store, before) == 0
    assert await compress(store, token) == 1
    assert await store.log(at(3), "long") == LONG


async def test_a_compressed_call_expires(opened: Opener) -> None:
    """At the time at which it would have expired."""
    store = opened(retention_s=0.3)
    token = await claim_shard(store, at(3))
    await end_call(store, token)
    assert await compress(store, token) == 1
    assert await store.read(at(3), "c1") == b"over"
    gone = partial(_is_gone, store)
    await until(gone, what="the expiry of c1")
    assert await store.log(at(3), "c1") == []


async def _is_gone(store: Store) -> bool:
    return await store.read(at(3), "c1") is None
