"""The writer: grouping, order and store failures."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest

from base.tasks import cancel_all
from engine.observe.metrics import Metrics
from engine.store.change import Change
from engine.store.errors import Overflow, StoreDown
from engine.store.writer import EVENT_DELAY_S, QUIET_DELAY_S, Writer, WriterHooks
from tests.harness.memory_store.store import MemoryStore
from tests.harness.shards import SHARD
from tests.harness.store.stores import change, claim_shard
from tests.harness.until import until
from tests.harness.virtual_time import virtual_time
from wire.shard import ShardId

PARTS = ("log", "events")  # what a change stores beside its state


class FaultyStore(MemoryStore):
    """The memory store that can be down or blocked; records the batches it receives."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[Change]] = []
        self.committed_s: list[float] = []  # when each of them came
        self.down = False
        self.overflowed = 0  # number of events that the outbox rejects in the next commit
        self.unblocked = asyncio.Event()
        self.unblocked.set()

    async def commit(
        self,
        shard: ShardId,
        token: int,
        changes: Sequence[Change],
        number: int = 0,
        sent: Sequence[str] = (),
    ) -> int:
        """Commit unless down; wait while blocked."""
        self.batches.append(list(changes))
        self.committed_s.append(asyncio.get_running_loop().time())
        await self.unblocked.wait()
        if self.down:
            raise StoreDown("test fault")
        await super().commit(shard, token, changes, number, sent)
        overflowed, self.overflowed = self.overflowed, 0
        return overflowed


class Scene:
    """A writer on a faulty store, and the calls of its hooks."""

    def __init__(self, limit: int, random: float) -> None:
        self.store = FaultyStore()
        self.random = random
        self.calls: list[str] = []
        self.limit = limit
        self.metrics = Metrics()
        self.writer: Writer

    async def open(self) -> None:
        """Claim the shard and create the writer."""
        hooks = WriterHooks(
            on_down=lambda reason: self.calls.append(f"down: {reason}"),
            on_up=lambda: self.calls.append("up"),
            on_fenced=lambda: self.calls.append("fenced"),
            on_overflow=lambda events: self.calls.append(f"overflow: {events}"),
        )
        token = await claim_shard(self.store, SHARD, "engine1")
        self.writer = Writer(
            self.store,
            SHARD,
            token,
            lambda: self.random,
            hooks=hooks,
            limit=self.limit,
            metrics=self.metrics,
        )

    def write(
        self, call_id: str, number: int, *, urgent: bool = True, has_event: bool = True
    ) -> None:
        """Write a call's step `number` and record its `done`."""
        body = b"%d" % number
        change = Change(call_id, "pbx1", body, number, (body,), (body,) if has_event else ())
        self.writer.write(change, lambda: self.calls.append(f"{call_id}.{number}"), urgent=urgent)


@asynccontextmanager
async def scene(limit: int = 100, random: float = 0.0) -> AsyncIterator[Scene]:
    """Run a writer for the length of a test."""
    created = Scene(limit, random)
    await created.open()
    running = asyncio.create_task(created.writer.run())
    try:
        yield created
    finally:
        await cancel_all([running])


async def test_changes_of_one_tick_are_one_batch() -> None:
    """Changes written before the loop runs are committed together; `done` follows in order.

    Batches are numbered.
    """
    async with scene() as at:
        for call_id in ("c1", "c2", "c3"):
            at.write(call_id, 0)
        assert at.calls == []
        await at.writer.drain()
        assert [len(batch) for batch in at.store.batches] == [3]
        size = at.metrics.store.commit_size.series(SHARD.node, SHARD.slot)
        assert (size.count, size.total) == (1, 3)
        assert at.calls == ["c1.0", "c2.0", "c3.0"]
        assert at.writer.last_number == 1
        at.write("c1", 1)
        await at.writer.drain()
        assert at.writer.last_number == 2


async def test_rejected_events_are_reported() -> None:
    """The outbox was full; the call is stored, and nothing is said of commits without overflow."""
    async with scene() as at:
        at.store.overflowed = 2
        at.write("c1", 0)
        await at.writer.drain()
        at.write("c1", 1)
        await at.writer.drain()
        assert at.calls == ["overflow: 2", "c1.0", "c1.1"]


async def test_changes_during_a_commit_wait_for_the_next() -> None:
    """One commit runs at a time; a call's changes meanwhile become one."""
    async with scene() as at:
        at.store.unblocked.clear()
        at.write("c1", 0)
        await until(lambda: len(at.store.batches) >= 1, every_s=0.001)
        at.write("c1", 1)
        at.write("c2", 0)
        at.write("c1", 2)
        at.store.unblocked.set()
        await at.writer.drain()
        assert at.store.batches[1] == [
            Change("c1", "pbx1", b"2", 1, (b"1", b"2"), (b"1", b"2")),
            Change("c2", "pbx1", b"0", 0, (b"0",), (b"0",)),
        ]
        assert at.calls == ["c1.0", "c1.1", "c2.0", "c1.2"]


async def test_batch_size_is_limited() -> None:
    """Many pending changes are written in several batches, so that a script stays short."""
    async with scene(limit=1000) as at:
        for number in range(600):
            at.write(f"c{number}", 0)
        await at.writer.drain()
        assert [len(batch) for batch in at.store.batches] == [256, 256, 88]


async def test_the_size_of_a_batch_is_limited() -> None:
    """Large calls are stored a few at a time, in order; at least one."""
    async with scene() as it:
        parts = [bytes(size) for size in (3_000_000, 900_000, 900_000, 5_000_000, 10)]
        for number, (field, part) in enumerate(zip(("state", *PARTS, *PARTS), parts, strict=True)):
            fields: dict[str, Any] = {field: part if field == "state" else (part,)}
            it.writer.write(change(f"c{number}", **fields), lambda: None)
        await it.writer.drain()
    batches = [[each.call_id for each in batch] for batch in it.store.batches]
    assert batches == [["c0", "c1"], ["c2"], ["c3"], ["c4"]]


async def test_nothing_is_lost_while_the_store_is_down() -> None:
    """The same batch is retried until the store is up; down and up are reported once each."""
    async with scene() as at:
        at.store.down = True
        at.write("c1", 0)
        await until(lambda: len(at.store.batches) >= 1, every_s=0.001)
        at.write("c1", 1)
        await until(lambda: len(at.store.batches) >= 3, every_s=0.001)
        assert at.calls == ["down: test fault"]
        assert not at.writer.is_healthy
        at.store.down = False
        await at.writer.drain()
        assert at.writer.is_healthy
        assert at.store.batches[0] == at.store.batches[1] == at.store.batches[2]
        assert at.calls[1:] == ["up", "c1.0", "c1.1"]
        assert at.metrics.store.commit_failures.total == len(at.store.batches) - 2
        assert await at.store.log(SHARD, "c1") == [b"0", b"1"]


@virtual_time
async def test_repetitions_become_rarer() -> None:
    """The wait doubles up to a second; the next outage begins with the shortest one again."""
    async with scene(random=1.0) as at:
        for waits_s in ([0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0], [0.05, 0.1]):
            at.store.committed_s.clear()
            at.store.down = True
            at.write("c1", 0)
            await asyncio.sleep(sum(waits_s) - 0.01)  # on virtual time
            at.store.down = False
            await at.writer.drain()
            tries_s = at.store.committed_s
            assert [round(to_s - from_s, 3) for from_s, to_s in pairwise(tries_s)] == waits_s


async def test_calls_whose_webhooks_are_sent() -> None:
    """They go with the next batch, or alone; those of a fenced writer go with its successor."""
    async with scene() as at:
        for call_id in ("c1", "c2"):
            end = Change(call_id, "pbx1", b"over", 0, (b"over",), live=False, unsent=True)
            at.writer.write(end, lambda: None)
        await at.writer.drain()
        assert [*await at.store.unsent(SHARD)] == ["c1", "c2"]
        at.writer.mark_sent("c1")
        await at.writer.drain()
        assert [*await at.store.unsent(SHARD)] == ["c2"]
        token = await claim_shard(at.store, SHARD, "engine1")
        at.writer.mark_sent("c2")
        await at.writer.drain()
        assert [*await at.store.unsent(SHARD)] == ["c2"]
        successor = Writer(at.store, SHARD, token, lambda: 0.0)
        successor.take_pending_from(at.writer)
        writing = asyncio.create_task(successor.run())
        await successor.drain()
        await cancel_all([writing])
        assert await at.store.unsent(SHARD) == {}


async def test_a_newer_owner_stops_the_writer() -> None:
    """A fenced writer reports it once and writes nothing more."""
    async with scene() as at:
        await claim_shard(at.store, SHARD, "engine2")
        at.write("c1", 0)
        await at.writer.drain()
        at.write("c1", 1)
        await at.writer.drain()
        assert at.calls == ["fenced"]
        assert len(at.store.batches) == 1


async def test_a_new_writer_takes_the_pending_changes_of_a_fenced_one() -> None:
    """When the store lost the shard's owner, changes in memory are written under a new token.

    Also those that came after the fencing, and beyond the limit.
    """
    async with scene() as at:
        token = await claim_shard(at.store, SHARD, "engine1")
        at.write("c1", 0)
        await at.writer.drain()
        at.write("c2", 0)
        await at.writer.drain()
        successor = Writer(at.store, SHARD, token, lambda: 0.0, limit=1)
        successor.take_pending_from(at.writer)
        writing = asyncio.create_task(successor.run())
        await successor.drain()
        await cancel_all([writing])
        assert [await at.store.log(SHARD, call) for call in ("c1", "c2")] == [[b"0"], [b"0"]]
        assert at.calls == ["fenced"]


async def test_the_backlog_is_limited() -> None:
    """At half of the limit new calls should be rejected; at the limit a change is."""
    async with scene(limit=4) as at:
        at.write("c1", 0)
        assert not at.writer.is_overloaded
        at.write("c1", 1)
        assert at.writer.is_overloaded
        at.write("c1", 2)
        at.write("c1", 3)
        with pytest.raises(Overflow, match="4 changes wait"):
            at.write("c1", 4)
        await at.writer.drain()
        assert not at.writer.is_overloaded


async def test_a_merged_change_is_reported_with_all_its_callbacks() -> None:
    """The hook hands them to the dispatcher once, after the commit."""
    store, reported = FaultyStore(), list[Change]()
    token = await claim_shard(store, SHARD, "engine1")
    hooks = WriterHooks(on_callbacks=reported.append)
    writer = Writer(store, SHARD, token, lambda: 0.0, hooks=hooks)
    for number in range(3):
        body = b"%d" % number
        writer.write(
            Change("c1", "n", body, number, (body,), callbacks=(body,), first_seq=number),
            lambda: None,
        )
    assert reported == []
    running = asyncio.create_task(writer.run())
    await writer.drain()
    await cancel_all([running])
    assert [(each.first_seq, each.callbacks) for each in reported] == [(0, (b"0", b"1", b"2"))]


async def test_a_quiet_change_goes_with_the_next_urgent_one() -> None:
    """A change without commands and events waits; the call's next change takes it along."""
    async with scene() as now:
        now.write("a", 0, urgent=False, has_event=False)
        now.write("a", 1, urgent=False, has_event=False)
        now.write("a", 2)
        await until(lambda: now.calls == ["a.0", "a.1", "a.2"])
        assert [len(batch) for batch in now.store.batches] == [1]


@virtual_time
async def test_when_a_quiet_change_is_stored() -> None:
    """Soon, sooner with an event; a later one postpones nothing, and then has its own time."""
    async with scene() as now:
        for wait_s, has_event in ((0.0, False), (0.01, True), (0.1, False), (0.05, False)):
            await asyncio.sleep(wait_s)  # on virtual time
            now.write("a", len(now.store.batches), urgent=False, has_event=has_event)
        await asyncio.sleep(1)  # on virtual time
        now.writer.mark_sent("a")
        await asyncio.sleep(1)  # on virtual time
        times_s = [0.01 + EVENT_DELAY_S, 0.11 + QUIET_DELAY_S, 1.16 + QUIET_DELAY_S]
        assert now.store.committed_s == pytest.approx(times_s)


async def test_a_quiet_change_during_a_commit_starts_no_other() -> None:
    """What arrives while a batch is stored waits for its own time, or for an urgent change."""
    async with scene() as now:
        now.store.unblocked.clear()
        now.write("a", 0)
        await until(lambda: len(now.store.batches) == 1)
        now.write("a", 1, urgent=False, has_event=False)
        now.write("b", 0, urgent=False, has_event=False)
        now.store.unblocked.set()
        await until(lambda: now.calls == ["a.0"])
        now.write("c", 0)
        await until(lambda: len(now.calls) == 4)
        assert [len(batch) for batch in now.store.batches] == [1, 3]


async def test_drain_stores_quiet_changes_at_once() -> None:
    """A shard that is given back keeps nothing in memory."""
    async with scene() as now:
        now.write("a", 0, urgent=False, has_event=False)
        await now.writer.drain()
        assert now.calls == ["a.0"]


async def test_how_long_a_commit_has_been_tried() -> None:
    """With its repetitions, as long as the store is down; then nothing lags."""
    async with scene() as at:
        assert at.writer.lag_s == 0.0
        at.store.down = True
        at.write("c1", 0)
        await until(lambda: len(at.store.batches) > 1, what="a repetition")
        assert at.writer.lag_s > 0.0
        at.store.down = False
        await at.writer.drain()
        assert at.writer.lag_s == 0.0
