"""A stream is trimmed behind its slowest group; trimming before it is reported as a gap."""

import pytest

from engine.store.stream import Batch, Consumer, Gap, StreamLimits, entry_order
from tests.contract.store.streams import (
    CDR,
    NOW,
    acknowledge_all,
    all_events,
    event_texts,
    numbers,
    open_publisher,
)
from tests.harness.shards import at
from tests.harness.store.stores import Opener
from tests.harness.until import until

SHORT = StreamLimits(100, 400)


async def test_acknowledged_events_are_trimmed(opened: Opener) -> None:
    """With all acknowledged, a stream keeps about its target length."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    for begin in range(0, 1_000, 100):
        await publish(*numbers(begin, begin + 100))
        await acknowledge_all(store, await store.stream.read_group(CDR, [at(3)], 0, 1_000))
    kept = await all_events(store)
    assert 100 <= len(kept) <= 310
    assert kept[-1] == "999"


@pytest.mark.parametrize("has_acknowledged", [False, True])
async def test_unacknowledged_events_are_kept(opened: Opener, has_acknowledged: bool) -> None:
    """The stream exceeds its target length while events are undelivered or unacknowledged."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    await publish("begin", "pending")
    batch = await store.stream.read_group(CDR, [at(3)], 0, 10)
    await store.stream.acknowledge("cdr", {at(3): [batch.entries[0].id]}, {})
    if has_acknowledged:
        await store.stream.acknowledge("cdr", {at(3): [batch.entries[1].id]}, {})
    await publish(*numbers(0, 350))
    due = [*event_texts(await store.stream.read_group(NOW, [at(3)], 0, 1_000))]
    assert due == [*([] if has_acknowledged else ["pending"]), *numbers(0, 350)]


async def test_the_slowest_group_counts(opened: Opener) -> None:
    """A fast group does not cause a slow group's events to be trimmed."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    slow, fast = Consumer("slow", "x"), Consumer("fast", "x")
    await store.stream.read_group(slow, [at(3)], 0, 10)
    for begin in range(0, 350, 50):
        await publish(*numbers(begin, begin + 50))
        await acknowledge_all(store, await store.stream.read_group(fast, [at(3)], 0, 1_000), "fast")
    assert event_texts(await store.stream.read_group(slow, [at(3)], 0, 1_000)) == numbers(0, 350)


async def test_trimmed_events_are_reported_as_a_gap(opened: Opener) -> None:
    """At the maximum length the oldest are trimmed; groups get a gap until they acknowledge it."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    await store.stream.read_group(CDR, [at(3)], 0, 10)
    await publish(*numbers(0, 1_200))
    batch = await store.stream.read_group(CDR, [at(3)], 0, 10_000)
    (gap,) = batch.gaps
    kept = event_texts(batch)
    assert kept == numbers(1_200 - len(kept), 1_200)
    assert 400 <= len(kept) <= 500
    assert gap.max_lost == 1_200 - len(kept)
    assert (gap.shard, gap.end) == (at(3), batch.entries[0].id)
    assert entry_order(gap.first) < entry_order(gap.end)
    (state,) = await store.stream.group_states([at(3)])
    assert state.lost == gap.max_lost
    assert (await store.stream.read_group(CDR, [at(3)], 0, 10)).gaps == (gap,)
    assert await store.stream.acknowledge("cdr", {}, {at(3): "9-9"}) == 0
    assert await acknowledge_all(store, Batch(gaps=(gap,))) == 1
    assert (await store.stream.read_group(CDR, [at(3)], 0, 10)).gaps == ()


async def test_a_gap_grows_until_it_is_acknowledged(opened: Opener) -> None:
    """Later losses are added; acknowledging the smaller gap does not hide them."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    await store.stream.read_group(CDR, [at(3)], 0, 10)
    await publish(*numbers(0, 1_000))
    (first,) = (await store.stream.read_group(CDR, [at(3)], 0, 1)).gaps
    await publish(*numbers(0, 1_000))
    assert await store.stream.acknowledge("cdr", {}, {at(3): first.end}) == 0
    (grown,) = (await store.stream.read_group(CDR, [at(3)], 0, 1)).gaps
    assert (grown.first, grown.max_lost > first.max_lost) == (first.first, True)


async def test_a_group_without_lag_has_no_gap(opened: Opener) -> None:
    """Only the group that lags has a gap."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    await store.stream.read_group(Consumer("slow", "x"), [at(3)], 0, 10)
    gaps: list[Gap] = []
    for begin in range(0, 1_200, 50):
        await publish(*numbers(begin, begin + 50))
        batch = await store.stream.read_group(CDR, [at(3)], 0, 1_000)
        assert event_texts(batch) == numbers(begin, begin + 50)
        gaps += batch.gaps
        await acknowledge_all(store, batch)
    assert gaps == []
    assert (await store.stream.read_group(Consumer("slow", "x"), [at(3)], 0, 1)).gaps != ()


async def test_trimmed_events_are_not_redelivered(opened: Opener) -> None:
    """Events of a crashed consumer that were trimmed do not stay pending."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    await publish("trimmed")
    await store.stream.read_group(CDR, [at(3)], 0, 10)
    await publish(*numbers(0, 1_000))
    batch = await store.stream.read_group(NOW, [at(3)], 0, 10_000)
    assert "trimmed" not in event_texts(batch)
    await acknowledge_all(store, batch)

    async def settled() -> bool:
        (state,) = await store.stream.group_states([at(3)])
        return (state.pending, state.lag) == (0, 0)

    await until(settled, what="nothing pending")


async def test_acknowledged_events_are_trimmed_after_a_while(opened: Opener) -> None:
    """About, and no event that a group has not acknowledged."""
    store = opened(stream_limits=StreamLimits(kept_ms=-5_000))
    publish = await open_publisher(store)
    await publish(*numbers(0, 1_000))
    batch = await store.stream.read_group(CDR, [at(3)], 0, 500)
    await acknowledge_all(store, batch)
    await store.stream.trim_old([at(3), at(4)])
    kept = await all_events(store)
    assert 500 <= len(kept) <= 600
    assert event_texts(await store.stream.read_group(CDR, [at(3)], 0, 1_000)) == numbers(500, 1_000)


async def test_young_events_are_kept(opened: Opener) -> None:
    """Whoever has acknowledged them: a reader may continue after the last that it has seen."""
    store = opened()
    publish = await open_publisher(store)
    await publish(*numbers(0, 1_000))
    await acknowledge_all(store, await store.stream.read_group(CDR, [at(3)], 0, 1_000))
    await store.stream.trim_old([at(3)])
    assert len(await all_events(store)) == 1_000


async def test_events_without_a_group_are_kept_longer(opened: Opener) -> None:
    """No group has acknowledged them: a reader may start later."""
    store = opened(stream_limits=StreamLimits(kept_ms=-5_000))
    publish = await open_publisher(store)
    await publish(*numbers(0, 1_000))
    await store.stream.trim_old([at(3)])
    assert len(await all_events(store)) == 1_000
    impatient = opened(stream_limits=StreamLimits(kept_ms=-5_000, unread_kept_ms=-5_000))
    publish = await open_publisher(impatient, at(4))
    await publish(*numbers(0, 1_000))
    await impatient.stream.trim_old([at(4)])
    assert len(await all_events(impatient, at(4))) <= 100


LARGE = StreamLimits(max_bytes=2_000_000)
EVENTS = [f"{number}:".ljust(16_000, "x") for number in range(300)]  # 4.8 MB


async def test_large_events_are_trimmed_below_a_size(opened: Opener) -> None:
    """Whatever their age, what all groups have acknowledged: customers put 16 KB into an event."""
    store = opened(stream_limits=LARGE)
    publish = await open_publisher(store)
    await store.stream.read_group(CDR, [at(3)], 0, 10)
    await publish(*EVENTS)
    await acknowledge_all(store, await store.stream.read_group(CDR, [at(3)], 0, 1_000))
    await store.stream.trim_old([at(3)])
    kept = await all_events(store)
    assert 1_000_000 < sum(map(len, kept)) < 3_700_000  # whole nodes, of up to a hundred entries
    assert kept == EVENTS[-len(kept) :]
    assert (await store.stream.read_group(CDR, [at(3)], 0, 10)).gaps == ()


async def test_a_group_that_lags_keeps_more_of_large_events(opened: Opener) -> None:
    """And what it loses beyond that is a gap."""
    store = opened(stream_limits=LARGE)
    publish = await open_publisher(store)
    await store.stream.read_group(CDR, [at(3)], 0, 10)
    await publish(*EVENTS)
    await store.stream.trim_old([at(3)])
    assert await all_events(store) == EVENTS
    await publish(*EVENTS, *EVENTS)
    await store.stream.trim_old([at(3)])
    kept = await all_events(store)
    assert 300 < len(kept) < 700
    batch = await store.stream.read_group(CDR, [at(3)], 0, 1_000)
    assert [each.max_lost for each in batch.gaps] == [900 - len(kept)]


async def test_a_group_that_acknowledged_all_that_was_trimmed_has_no_gap(opened: Opener) -> None:
    """Its position is the entry before the first that is kept."""
    store = opened(stream_limits=SHORT)
    publish = await open_publisher(store)
    await store.stream.read_group(Consumer("slow", "x"), [at(3)], 0, 10)
    await publish(*numbers(0, 500))
    await acknowledge_all(store, await store.stream.read_group(CDR, [at(3)], 0, 200))
    await publish(*numbers(500, 600))
    assert await all_events(store) == numbers(200, 600)
    states = await store.stream.group_states([at(3)])
    assert {each.group: each.lost for each in states} == {"cdr": 0, "slow": 200}
