"""A stream is cut behind its slowest reader, and where it must be cut before, that is told."""

import pytest

from engine.store.stream import Batch, Consumer, Gap, StreamLimits, entry_order
from tests.contract.store.stores import Opener
from tests.contract.store.streams import CDR, NOW, all_told, done, numbers, teller, told
from tests.harness.until import until

SHORT = StreamLimits(100, 400)


async def test_what_a_group_has_read_is_let_go(opened: Opener) -> None:
    """With all acknowledged a stream keeps about its length."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    for begin in range(0, 1_000, 100):
        await tell(*numbers(begin, begin + 100))
        await done(store, await store.stream.read_group(CDR, [3], 0, 1_000))
    kept = await all_told(store)
    assert 100 <= len(kept) <= 310
    assert kept[-1] == "999"


@pytest.mark.parametrize("has_begun", [False, True])
async def test_what_a_group_has_not_acknowledged_is_kept(opened: Opener, has_begun: bool) -> None:
    """Not delivered, or delivered and not acknowledged: the stream grows beyond its length."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    await tell("begin", "pending")
    batch = await store.stream.read_group(CDR, [3], 0, 10)
    await store.stream.acknowledge("cdr", {3: [batch.entries[0].id]}, {})
    if has_begun:
        await store.stream.acknowledge("cdr", {3: [batch.entries[1].id]}, {})
    await tell(*numbers(0, 350))
    due = [*told(await store.stream.read_group(NOW, [3], 0, 1_000))]
    assert due == [*([] if has_begun else ["pending"]), *numbers(0, 350)]


async def test_the_slowest_group_counts(opened: Opener) -> None:
    """One that reads everything at once takes nothing away from another."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    slow, fast = Consumer("slow", "x"), Consumer("fast", "x")
    await store.stream.read_group(slow, [3], 0, 10)
    for begin in range(0, 350, 50):
        await tell(*numbers(begin, begin + 50))
        await done(store, await store.stream.read_group(fast, [3], 0, 1_000), "fast")
    assert told(await store.stream.read_group(slow, [3], 0, 1_000)) == numbers(0, 350)


async def test_what_is_cut_off_is_told_as_a_gap(opened: Opener) -> None:
    """At the ceiling the oldest goes, and each group is told so until it has said that it knows."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    await store.stream.read_group(CDR, [3], 0, 10)
    await tell(*numbers(0, 1_200))
    batch = await store.stream.read_group(CDR, [3], 0, 10_000)
    (gap,) = batch.gaps
    kept = told(batch)
    assert kept == numbers(1_200 - len(kept), 1_200)
    assert 400 <= len(kept) <= 500
    assert gap.max_lost == 1_200 - len(kept)
    assert (gap.slot, gap.end) == (3, batch.entries[0].id)
    assert entry_order(gap.first) < entry_order(gap.end)
    (state,) = await store.stream.group_states([3])
    assert state.lost == gap.max_lost
    assert (await store.stream.read_group(CDR, [3], 0, 10)).gaps == (gap,)
    assert await store.stream.acknowledge("cdr", {}, {3: "9-9"}) == 0
    assert await done(store, Batch(gaps=(gap,))) == 1
    assert (await store.stream.read_group(CDR, [3], 0, 10)).gaps == ()


async def test_a_gap_grows_until_it_is_acknowledged(opened: Opener) -> None:
    """What is lost later is added; an acknowledgement of the smaller one does not hide that."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    await store.stream.read_group(CDR, [3], 0, 10)
    await tell(*numbers(0, 1_000))
    (first,) = (await store.stream.read_group(CDR, [3], 0, 1)).gaps
    await tell(*numbers(0, 1_000))
    assert await store.stream.acknowledge("cdr", {}, {3: first.end}) == 0
    (grown,) = (await store.stream.read_group(CDR, [3], 0, 1)).gaps
    assert (grown.first, grown.max_lost > first.max_lost) == (first.first, True)


async def test_who_has_read_all_loses_nothing(opened: Opener) -> None:
    """The gap is that of the group that was behind."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    await store.stream.read_group(Consumer("slow", "x"), [3], 0, 10)
    gaps: list[Gap] = []
    for begin in range(0, 1_200, 50):
        await tell(*numbers(begin, begin + 50))
        batch = await store.stream.read_group(CDR, [3], 0, 1_000)
        assert told(batch) == numbers(begin, begin + 50)
        gaps += batch.gaps
        await done(store, batch)
    assert gaps == []
    assert (await store.stream.read_group(Consumer("slow", "x"), [3], 0, 1)).gaps != ()


async def test_what_was_cut_off_while_it_was_out_is_not_delivered_again(opened: Opener) -> None:
    """A consumer that died with events which are gone since: nobody waits for them for ever."""
    store = opened(stream_limits=SHORT)
    tell = await teller(store)
    await tell("gone")
    await store.stream.read_group(CDR, [3], 0, 10)
    await tell(*numbers(0, 1_000))
    batch = await store.stream.read_group(NOW, [3], 0, 10_000)
    assert "gone" not in told(batch)
    await done(store, batch)

    async def settled() -> bool:
        (state,) = await store.stream.group_states([3])
        return (state.pending, state.lag) == (0, 0)

    await until(settled, what="nothing pending")
