"""The store contract, for the memory store and a real Valkey."""

import asyncio
import time

from engine.store.store import Store
from engine.store.stream import StreamLimits
from tests.harness.shards import at
from tests.harness.store.stores import Opener, change, claim_shard, live_calls
from tests.harness.until import until
from wire.shard import ShardId


async def test_a_call_is_created_once(store: Store) -> None:
    """A second call of the same id is rejected while the first is live and after it has ended."""
    token = await claim_shard(store, at(3), "engine1")
    assert await store.create(at(3), token, change(state=b"first", events=(b"t",)))
    assert not await store.create(at(3), token, change(state=b"second"))
    assert await store.read(at(3), "c1") == b"first"
    await store.commit(at(3), token, [change(seq=1, live=False)])
    assert not await store.create(at(3), token, change(state=b"third"))
    assert await store.log(at(3), "c1") == [b"\xc1entry 0", b"\xc1entry 1"]


async def test_creating_again_after_a_lost_answer_is_harmless(store: Store) -> None:
    """The same creation returns True again, and publishes nothing twice."""
    token = await claim_shard(store, at(3), "engine1")
    first = change(events=(b"t",))
    assert await store.create(at(3), token, first)
    assert await store.create(at(3), token, first)
    assert len(await store.stream.read_after({at(3): "0"})) == 1
    await store.commit(at(3), token, [change(seq=1)])
    assert not await store.create(at(3), token, first)


async def test_one_of_many_creations_wins(store: Store) -> None:
    """Creation is atomic: of several concurrent ones, one returns True."""
    token = await claim_shard(store, at(3), "engine1")
    made = await asyncio.gather(
        *(store.create(at(3), token, change(state=b"%d" % number)) for number in range(10))
    )
    assert sum(made) == 1


async def test_a_log_keeps_its_order_and_a_repetition_adds_nothing(store: Store) -> None:
    """Entries are in the order of commits; a repeated commit is stored once."""
    token = await claim_shard(store, at(3), "engine1")
    batch = [change(seq=0, log=(b"0", b"1"), events=(b"a", b"b")), change("c2")]
    for _ in range(3):
        await store.commit(at(3), token, batch)
    await store.commit(at(3), token, [change(seq=2, log=(b"2",), events=(b"c",))])
    assert await store.log(at(3), "c1") == [b"0", b"1", b"2"]
    assert await store.log(at(3), "c1", 2) == [b"2"]
    assert await store.log(at(3), "c1", 3) == []
    assert [event for _, _, event in await store.stream.read_after({at(3): "0"})] == [
        b"a",
        b"b",
        b"c",
    ]


async def test_a_late_repetition_does_not_turn_the_state_back(store: Store) -> None:
    """A batch that reaches the store a second time, after newer ones, changes nothing."""
    token = await claim_shard(store, at(3), "engine1")
    for seq in (0, 1, 0):
        await store.commit(at(3), token, [change(seq=seq)])
    assert await store.read(at(3), "c1") == b"\x00state 1\xff"


async def test_an_end_is_not_taken_back_by_a_late_repetition(store: Store) -> None:
    """An ended call stays ended when an older commit is repeated."""
    token = await claim_shard(store, at(3), "engine1")
    await store.commit(at(3), token, [change()])
    await store.commit(at(3), token, [change(seq=1, live=False)])
    await store.commit(at(3), token, [change()])
    assert await live_calls(store) == []


async def test_lost_log_entries_read_as_empty(store: Store) -> None:
    """When the store has lost entries, later ones keep their numbers."""
    token = await claim_shard(store, at(3), "engine1")
    for _ in range(2):
        await store.commit(at(3), token, [change(seq=2, log=(b"2",), events=(b"t",))])
    assert await store.log(at(3), "c1") == [b"", b"", b"2"]
    assert len(await store.stream.read_after({at(3): "0"})) == 1


async def test_a_long_log_is_stored_whole(store: Store) -> None:
    """After a long outage one change may carry thousands of entries."""
    token = await claim_shard(store, at(3), "engine1")
    entries = tuple(b"%d" % number for number in range(9_500))
    await store.commit(at(3), token, [change(log=entries)])
    assert await store.log(at(3), "c1") == list(entries)


async def test_an_ended_call_leaves_the_live_ones_and_is_kept(store: Store) -> None:
    """The record and the log of an ended call can still be read."""
    token = await claim_shard(store, at(3), "engine1")
    await store.commit(at(3), token, [change(), change("c2")])
    await store.commit(at(3), token, [change(seq=1, state=b"over", live=False)])
    assert [call_id for call_id, _, _ in await live_calls(store)] == ["c2"]
    assert await store.read(at(3), "c1") == b"over"
    assert await store.log(at(3), "c1") == [b"\xc1entry 0", b"\xc1entry 1"]


async def test_webhooks_of_an_ended_call_that_are_still_to_be_sent(store: Store) -> None:
    """The next owner finds the call until they are sent; a repeated end does not bring it back."""
    token = await claim_shard(store, at(3), "engine1")
    end = change(state=b"over", live=False, unsent=True)
    await store.commit(at(3), token, [end, change("c2", live=False), change("c3")])
    assert await store.unsent(at(3)) == {"c1": b"over"}
    assert await store.unsent(at(1)) == {}
    await store.commit(at(3), token, [], sent=["c1", "c4"])
    await store.commit(at(3), token, [end])
    assert await store.unsent(at(3)) == {}


async def test_more_unsent_calls_than_a_page(store: Store) -> None:
    """A customer whose server does not respond leaves many."""
    token = await claim_shard(store, at(3), "engine1")
    ends = [change(f"c{n}", state=b"%d" % n, live=False, unsent=True) for n in range(1_001)]
    await store.commit(at(3), token, ends)
    assert await store.unsent(at(3)) == {f"c{n}": b"%d" % n for n in range(1_001)}


async def test_an_unsent_call_that_is_not_kept_any_more(store: Store) -> None:
    """It is named, so that its owner can forget it."""
    token = await claim_shard(store, at(3), "engine1")
    await store.commit(at(3), token, [change(live=False, unsent=True)])
    await store.forget(at(3), "c1")
    assert await store.unsent(at(3)) == {"c1": None}


async def test_an_ended_call_expires(opened: Opener) -> None:
    """After the retention time an ended call and its log are deleted; a live one stays."""
    store = opened(retention_s=0.05)
    token = await claim_shard(store, at(3), "engine1")
    await store.commit(at(3), token, [change(live=False), change("c2")])

    async def gone() -> bool:
        return await store.read(at(3), "c1") is None and await store.log(at(3), "c1") == []

    await until(gone, what="the expiry of c1")
    assert await store.read(at(3), "c2") is not None
    assert await store.log(at(3), "c2") != []
    assert await store.create(at(3), token, change())


async def test_all_of_many_live_calls_are_read(store: Store) -> None:
    """A takeover reads thousands of calls in pages, each once, with its node and state."""
    token = await claim_shard(store, at(3), "engine1")
    calls = [change(f"c{number}", node=f"pbx{number % 2}") for number in range(5_000)]
    for start in range(0, len(calls), 250):
        await store.commit(at(3), token, calls[start : start + 250])
    assert await live_calls(store) == sorted(
        (call.call_id, call.node, call.state) for call in calls
    )


async def test_events_are_read_on_from_any_id(store: Store) -> None:
    """A reader continues at its position in each shard, and gets each event once, in order."""
    token3, token4 = (
        await claim_shard(store, at(3), "engine1"),
        await claim_shard(store, at(4), "engine1"),
    )
    await store.commit(at(3), token3, [change(events=(b"a", b"b", b"c"))])
    await store.commit(at(4), token4, [change(events=(b"x",))])
    after = {at(3): "0", at(4): "0"}
    read: list[tuple[ShardId, bytes]] = []
    while found := await store.stream.read_after(after, limit=2):
        after |= {shard: entry for shard, entry, _ in found}
        read += [(shard, event) for shard, _, event in found]
    assert sorted(read) == [(at(3), b"a"), (at(3), b"b"), (at(3), b"c"), (at(4), b"x")]


async def test_waiting_for_events_ends_with_the_first(store: Store) -> None:
    """A reader that starts at the newest is woken by the next event."""
    token = await claim_shard(store, at(3), "engine1")
    await store.commit(at(3), token, [change(events=(b"old",))])
    after = await store.stream.newest_ids([at(3), at(4)])
    waiting = asyncio.create_task(store.stream.read_after(after, wait_ms=10_000))
    await store.commit(at(3), token, [change(seq=1, events=(b"new",))])
    assert [(shard, event) for shard, _, event in await waiting] == [(at(3), b"new")]


async def test_waiting_for_events_in_vain_ends(store: Store) -> None:
    """Without an event the wait ends with nothing."""
    assert await store.stream.read_after(await store.stream.newest_ids([at(3)]), wait_ms=20) == []


async def test_old_events_are_trimmed(opened: Opener) -> None:
    """A shard's stream keeps about its limit."""
    store = opened(stream_limits=StreamLimits(100, 400))
    token = await claim_shard(store, at(3), "engine1")
    for seq in range(10):
        encoded = tuple(b"%d.%d" % (seq, number) for number in range(100))
        await store.commit(at(3), token, [change(seq=seq, events=encoded)])
    kept = [event for _, _, event in await store.stream.read_after({at(3): "0"})]
    assert 100 <= len(kept) <= 250
    assert kept[-1] == b"9.99"


async def test_a_store_that_is_there_answers(store: Store) -> None:
    """Ping returns."""
    await store.ping()


async def test_the_stores_time(store: Store) -> None:
    """It is wall-clock time in milliseconds, and goes forward."""
    first = await store.time_ms()
    assert abs(first - time.time() * 1000) < 60_000  # a real server has no other clock
    assert await store.time_ms() >= first


async def test_the_time_that_an_account_has_used(store: Store) -> None:
    """It is added once when a call ends, in whatever shard; accounts are apart."""
    token = await claim_shard(store, at(3), "engine1")
    other = await claim_shard(store, at(1), "engine1")
    await store.create(at(3), token, change(account="acme"))
    ended = change(seq=1, live=False, account="acme", used_ms=1_500)
    for each in (ended, ended, change(seq=2, live=False, account="acme", used_ms=1_500)):
        await store.commit(at(3), token, [each])
    await store.commit(at(1), other, [change("c2", live=False, account="acme", used_ms=70)])
    await store.commit(at(1), other, [change("c3", live=False, account="else", used_ms=9)])
    assert [
        await store.used_ms(each, [at(0), at(1), at(2), at(3)]) for each in ("acme", "else", "none")
    ] == [1_570, 9, 0]


async def test_an_ended_call_is_forgotten(store: Store) -> None:
    """With its log; others of the shard and of other shards stay."""
    for shard in (at(3), at(1)):
        token = await claim_shard(store, shard, "engine1")
        await store.commit(shard, token, [change(live=False, events=(b"a", b"b")), change("c2")])
    assert [each async for each in store.ended(at(3))] == [("c1", b"\x00state 0\xff")]
    await store.forget(at(3), "c1")
    assert [each async for each in store.ended(at(3))] == []
    assert (await store.read(at(3), "c1"), await store.log(at(3), "c1")) == (None, [])
    assert [call_id async for call_id, _ in store.ended(at(1))] == ["c1"]
    entries = [entry for _, entry, _ in await store.stream.read_after({at(3): "0"})]
    assert await store.stream.remove(at(3), [entries[0], "1-1"]) == 1
    assert [body for _, _, body in await store.stream.read_after({at(3): "0"})] == [b"b"]
    assert await store.remove_dead_letters(at(3), "acme", ["1-1"]) == 0
