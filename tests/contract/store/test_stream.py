"""Consumer groups in the memory store and in a real Valkey."""

import asyncio

from engine.store.store import Store
from engine.store.stream import START, Batch, Consumer, entry_order
from tests.contract.store.streams import (
    CDR,
    NOW,
    OTHER,
    acknowledge_all,
    bodies,
    event_texts,
    open_publisher,
)
from tests.harness.shards import at
from tests.harness.until import MAX_WAIT_S


async def test_a_group_reads_each_event_once(store: Store) -> None:
    """It starts at the oldest entries of all shards, and its consumers share the events."""
    three, four = await open_publisher(store, at(3)), await open_publisher(store, at(4))
    await three("a", "b")
    await four("x")
    first = await store.stream.read_group(CDR, [at(3), at(4)], 0, 2)
    assert sorted(event_texts(first)) == ["a", "x"]
    second = await store.stream.read_group(OTHER, [at(3), at(4)], 0, 100)
    assert event_texts(second) == ["b"]
    assert not any(each.redelivered for each in (*first.entries, *second.entries))
    assert await store.stream.read_group(CDR, [at(3), at(4)], 20, 100) == Batch()


async def test_groups_are_independent(store: Store) -> None:
    """Each group reads all events."""
    publish = await open_publisher(store)
    await publish("a")
    for group in ("cdr", "live"):
        assert event_texts(await store.stream.read_group(Consumer(group, "x"), [at(3)], 0, 10)) == [
            "a"
        ]


async def test_waiting_for_a_group_ends_with_the_first(store: Store) -> None:
    """A waiting consumer is woken by a new event."""
    publish = await open_publisher(store)
    waiting = asyncio.create_task(store.stream.read_group(CDR, [at(3), at(4)], 10_000, 10))
    await asyncio.sleep(0)
    await publish("a")
    assert event_texts(await waiting) == ["a"]


async def test_unacknowledged_events_are_redelivered(store: Store) -> None:
    """After the idle time the next reader gets them at once, marked as redelivered."""
    publish = await open_publisher(store)
    await publish("a", "b", "c")
    batch = await store.stream.read_group(CDR, [at(3)], 0, 10)
    assert await store.stream.acknowledge("cdr", {at(3): [batch.entries[1].id]}, {}) == 1
    assert await store.stream.read_group(OTHER, [at(3)], 0, 10) == Batch()
    async with asyncio.timeout(MAX_WAIT_S):
        again = await store.stream.read_group(NOW, [at(3)], 60_000, 10)
    assert event_texts(again) == ["a", "c"]
    assert all(each.redelivered for each in again.entries)
    assert await acknowledge_all(store, again) == 2
    assert await acknowledge_all(store, again) == 0
    assert await store.stream.read_group(NOW, [at(3)], 0, 10) == Batch()


async def test_acknowledging_unknown_entries_is_harmless(store: Store) -> None:
    """Unknown groups, shards and entries do not count."""
    assert await store.stream.acknowledge("nobody", {at(3): ["1-1"]}, {at(3): "1-1"}) == 0


async def test_group_states(store: Store) -> None:
    """The state has the numbers of undelivered and unacknowledged entries by shard."""
    publish = await open_publisher(store)
    await publish("a", "b", "c")
    assert await store.stream.group_states([at(3), at(4)]) == []
    batch = await store.stream.read_group(CDR, [at(3), at(4)], 0, 4)
    assert len(batch.entries) == 2
    states = {each.shard: each for each in await store.stream.group_states([at(3), at(4)])}
    assert (states[at(3)].group, states[at(3)].lag, states[at(3)].pending) == ("cdr", 1, 2)
    assert (states[at(4)].lag, states[at(4)].pending) == (0, 0)


async def test_a_group_is_dropped(store: Store) -> None:
    """It no longer prevents trimming; a new group of its name starts at the oldest entry."""
    publish = await open_publisher(store)
    await publish("a")
    await store.stream.read_group(CDR, [at(3)], 0, 4)
    assert await store.stream.drop_group("cdr", [at(3), at(4)])
    assert not await store.stream.drop_group("cdr", [at(3), at(4)])
    assert await store.stream.group_states([at(3)]) == []
    assert event_texts(await store.stream.read_group(CDR, [at(3)], 0, 4)) == ["a"]


async def test_the_edges_of_a_stream(store: Store) -> None:
    """The oldest and newest entries are readable, and entries can be read backwards."""
    publish = await open_publisher(store)
    assert await store.stream.oldest_ids([at(3), at(4)]) == {}
    assert await store.stream.newest_ids([at(3)]) == {at(3): START}
    await publish("a", "b", "c")
    (oldest,), (newest,) = (
        (await store.stream.oldest_ids([at(3), at(4)])).values(),
        (await store.stream.newest_ids([at(3)])).values(),
    )
    assert entry_order(oldest) < entry_order(newest)
    backwards = await store.stream.read_before(at(3), "+", 2)
    assert bodies(backwards) == [b"c", b"b"]
    assert backwards[0][0] == newest
    rest = await store.stream.read_before(at(3), backwards[-1][0], 2)
    assert (bodies(rest), rest[0][0]) == ([b"a"], oldest)
    assert await store.stream.read_before(at(3), oldest, 2) == []
