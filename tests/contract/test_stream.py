"""Reading for groups, and what is kept for them, asked of the twin and of a real Valkey alike."""

import asyncio
from collections.abc import Iterable

import pytest

from engine.store.change import Change
from engine.store.store import Store
from engine.store.stream import START, Batch, Bounds, Gap, Reader, order
from tests.contract.store import Opener, claimed
from tests.harness.until import until

CDR, OTHER = Reader("cdr", "api1"), Reader("cdr", "api2")
NOW = Reader("cdr", "api2", idle_ms=0)
SHORT = Bounds(100, 400)


class Teller:
    """Tells events in a slot, a hundred in one commit at most."""

    def __init__(self, store: Store, slot: int, token: int) -> None:
        self._store, self._slot, self._token = store, slot, token
        self._calls = 0

    async def __call__(self, *events: str) -> None:
        """Tell events."""
        for first in range(0, len(events), 100):
            told = tuple(each.encode() for each in events[first : first + 100])
            self._calls += 1
            change = Change(f"c{self._calls}", "pbx1", b"", 0, (b"line",), told)
            await self._store.commit(self._slot, self._token, [change])


async def teller(store: Store, slot: int = 3) -> Teller:
    """Own a slot."""
    return Teller(store, slot, await claimed(store, slot))


def numbers(begin: int, end: int) -> list[str]:
    """Name events by numbers."""
    return [str(number) for number in range(begin, end)]


def told(batch: Batch) -> list[str]:
    """Give what a batch holds."""
    return [each.event.decode() for each in batch.entries]


async def done(store: Store, batch: Batch, group: str = "cdr") -> int:
    """Acknowledge all of a batch."""
    ids: dict[int, list[str]] = {}
    for each in batch.entries:
        ids.setdefault(each.slot, []).append(each.id)
    return await store.stream.acknowledge(group, ids, {gap.slot: gap.end for gap in batch.gaps})


async def all_told(store: Store, slot: int = 3) -> list[str]:
    """Read a whole stream."""
    found = await store.stream.after({slot: START}, limit=100_000)
    return [event.decode() for _, _, event in found]


async def test_a_group_reads_each_event_once(store: Store) -> None:
    """From the oldest kept on, over all slots, shared by its consumers."""
    three, four = await teller(store, 3), await teller(store, 4)
    await three("a", "b")
    await four("x")
    first = await store.stream.take(CDR, [3, 4], 0, 2)
    assert sorted(told(first)) == ["a", "x"]
    second = await store.stream.take(OTHER, [3, 4], 0, 100)
    assert told(second) == ["b"]
    assert not any(each.again for each in (*first.entries, *second.entries))
    assert await store.stream.take(CDR, [3, 4], 20, 100) == Batch()


async def test_groups_know_nothing_of_each_other(store: Store) -> None:
    """Each reads everything."""
    tell = await teller(store)
    await tell("a")
    for group in ("cdr", "live"):
        assert told(await store.stream.take(Reader(group, "x"), [3], 0, 10)) == ["a"]


async def test_waiting_for_a_group_ends_with_the_first(store: Store) -> None:
    """A consumer that waits is woken by what is told."""
    tell = await teller(store)
    waiting = asyncio.create_task(store.stream.take(CDR, [3, 4], 10_000, 10))
    await asyncio.sleep(0)
    await tell("a")
    assert told(await waiting) == ["a"]


async def test_what_is_not_acknowledged_comes_again(store: Store) -> None:
    """After its time it goes to who asks, marked; what was acknowledged never does."""
    tell = await teller(store)
    await tell("a", "b", "c")
    batch = await store.stream.take(CDR, [3], 0, 10)
    assert await store.stream.acknowledge("cdr", {3: [batch.entries[1].id]}, {}) == 1
    assert await store.stream.take(OTHER, [3], 0, 10) == Batch()
    again = await store.stream.take(NOW, [3], 0, 10)
    assert told(again) == ["a", "c"]
    assert all(each.again for each in again.entries)
    assert await done(store, again) == 2
    assert await done(store, again) == 0
    assert await store.stream.take(NOW, [3], 0, 10) == Batch()


async def test_acknowledging_what_is_nobodys_is_harmless(store: Store) -> None:
    """An unknown group, slot or entry counts nothing."""
    assert await store.stream.acknowledge("nobody", {3: ["1-1"]}, {3: "1-1"}) == 0


async def test_how_groups_stand(store: Store) -> None:
    """What waits for a group, and what it has and did not acknowledge, by slot."""
    tell = await teller(store)
    await tell("a", "b", "c")
    assert await store.stream.groups([3, 4]) == []
    batch = await store.stream.take(CDR, [3, 4], 0, 4)
    assert len(batch.entries) == 2
    states = {each.slot: each for each in await store.stream.groups([3, 4])}
    assert (states[3].group, states[3].lag, states[3].pending) == ("cdr", 1, 2)
    assert (states[4].lag, states[4].pending) == (0, 0)


async def test_a_group_is_forgotten(store: Store) -> None:
    """It holds nothing back any more; a later one of its name begins anew."""
    tell = await teller(store)
    await tell("a")
    await store.stream.take(CDR, [3], 0, 4)
    assert await store.stream.drop("cdr", [3, 4])
    assert not await store.stream.drop("cdr", [3, 4])
    assert await store.stream.groups([3]) == []
    assert told(await store.stream.take(CDR, [3], 0, 4)) == ["a"]


async def test_what_a_group_has_read_is_let_go(opened: Opener) -> None:
    """With all acknowledged a stream keeps about its length."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    for begin in range(0, 1_000, 100):
        await tell(*numbers(begin, begin + 100))
        await done(store, await store.stream.take(CDR, [3], 0, 1_000))
    kept = await all_told(store)
    assert 100 <= len(kept) <= 310
    assert kept[-1] == "999"


@pytest.mark.parametrize("has_begun", [False, True])
async def test_what_a_group_has_not_acknowledged_is_kept(opened: Opener, has_begun: bool) -> None:
    """Not delivered, or delivered and not acknowledged: the stream grows beyond its length."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    await tell("begin", "pending")
    batch = await store.stream.take(CDR, [3], 0, 10)
    await store.stream.acknowledge("cdr", {3: [batch.entries[0].id]}, {})
    if has_begun:
        await store.stream.acknowledge("cdr", {3: [batch.entries[1].id]}, {})
    await tell(*numbers(0, 350))
    due = [*told(await store.stream.take(NOW, [3], 0, 1_000))]
    assert due == [*([] if has_begun else ["pending"]), *numbers(0, 350)]


async def test_the_slowest_group_counts(opened: Opener) -> None:
    """One that reads everything at once takes nothing away from another."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    slow, fast = Reader("slow", "x"), Reader("fast", "x")
    await store.stream.take(slow, [3], 0, 10)
    for begin in range(0, 350, 50):
        await tell(*numbers(begin, begin + 50))
        await done(store, await store.stream.take(fast, [3], 0, 1_000), "fast")
    assert told(await store.stream.take(slow, [3], 0, 1_000)) == numbers(0, 350)


async def test_what_is_cut_off_is_told_as_a_gap(opened: Opener) -> None:
    """At the ceiling the oldest goes, and each group is told so until it has said that it knows."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    await store.stream.take(CDR, [3], 0, 10)
    await tell(*numbers(0, 1_200))
    batch = await store.stream.take(CDR, [3], 0, 10_000)
    (gap,) = batch.gaps
    kept = told(batch)
    assert kept == numbers(1_200 - len(kept), 1_200)
    assert 400 <= len(kept) <= 500
    assert gap.most == 1_200 - len(kept)
    assert (gap.slot, gap.end) == (3, batch.entries[0].id)
    assert order(gap.first) < order(gap.end)
    (state,) = await store.stream.groups([3])
    assert state.lost == gap.most
    assert (await store.stream.take(CDR, [3], 0, 10)).gaps == (gap,)
    assert await store.stream.acknowledge("cdr", {}, {3: "9-9"}) == 0
    assert await done(store, Batch(gaps=(gap,))) == 1
    assert (await store.stream.take(CDR, [3], 0, 10)).gaps == ()


async def test_a_gap_grows_until_it_is_acknowledged(opened: Opener) -> None:
    """What is lost later is added; an acknowledgement of the smaller one does not hide that."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    await store.stream.take(CDR, [3], 0, 10)
    await tell(*numbers(0, 1_000))
    (first,) = (await store.stream.take(CDR, [3], 0, 1)).gaps
    await tell(*numbers(0, 1_000))
    assert await store.stream.acknowledge("cdr", {}, {3: first.end}) == 0
    (grown,) = (await store.stream.take(CDR, [3], 0, 1)).gaps
    assert (grown.first, grown.most > first.most) == (first.first, True)


async def test_who_has_read_all_loses_nothing(opened: Opener) -> None:
    """The gap is that of the group that was behind."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    await store.stream.take(Reader("slow", "x"), [3], 0, 10)
    gaps: list[Gap] = []
    for begin in range(0, 1_200, 50):
        await tell(*numbers(begin, begin + 50))
        batch = await store.stream.take(CDR, [3], 0, 1_000)
        assert told(batch) == numbers(begin, begin + 50)
        gaps += batch.gaps
        await done(store, batch)
    assert gaps == []
    assert (await store.stream.take(Reader("slow", "x"), [3], 0, 1)).gaps != ()


async def test_what_was_cut_off_while_it_was_out_is_not_delivered_again(opened: Opener) -> None:
    """A consumer that died with events which are gone since: nobody waits for them for ever."""
    store = opened(bounds=SHORT)
    tell = await teller(store)
    await tell("gone")
    await store.stream.take(CDR, [3], 0, 10)
    await tell(*numbers(0, 1_000))
    batch = await store.stream.take(NOW, [3], 0, 10_000)
    assert "gone" not in told(batch)
    await done(store, batch)

    async def settled() -> bool:
        (state,) = await store.stream.groups([3])
        return (state.pending, state.lag) == (0, 0)

    await until(settled, what="nothing pending")


async def test_the_edges_of_a_stream(store: Store) -> None:
    """The oldest entry kept, the newest, and from there backwards."""
    tell = await teller(store)
    assert await store.stream.oldest([3, 4]) == {}
    assert await store.stream.newest([3]) == {3: START}
    await tell("a", "b", "c")
    (oldest,), (newest,) = (
        (await store.stream.oldest([3, 4])).values(),
        (await store.stream.newest([3])).values(),
    )
    assert order(oldest) < order(newest)
    backwards = await store.stream.before(3, "+", 2)
    assert _bodies(backwards) == [b"c", b"b"]
    assert backwards[0][0] == newest
    rest = await store.stream.before(3, backwards[-1][0], 2)
    assert (_bodies(rest), rest[0][0]) == ([b"a"], oldest)
    assert await store.stream.before(3, oldest, 2) == []


def _bodies(found: Iterable[tuple[str, bytes]]) -> list[bytes]:
    return [body for _, body in found]
