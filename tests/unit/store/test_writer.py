"""The writer: what it groups, in which order, and what it does when the store is in trouble."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from engine.store.change import Change, coalesce
from engine.store.errors import Overflow, StoreDown
from engine.store.memory.store import MemoryStore
from engine.store.writer import Writer, WriterHooks
from tests.contract.store.stores import claimed
from tests.harness.until import until


class Moody(MemoryStore):
    """The twin with moods: down, or busy until it is let go; it keeps the batches it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[list[Change]] = []
        self.down = False
        self.free = asyncio.Event()
        self.free.set()

    async def commit(
        self, slot: int, token: int, changes: Sequence[Change], number: int = 0
    ) -> int:
        """Commit, in the mood for it."""
        self.batches.append(list(changes))
        await self.free.wait()
        if self.down:
            raise StoreDown("in a bad mood")
        return await super().commit(slot, token, changes, number)


class Scene:
    """A writer on a moody store, and all that it said."""

    def __init__(self, limit: int) -> None:
        self.store = Moody()
        self.said: list[str] = []
        self.limit = limit
        self.writer: Writer

    async def open(self) -> None:
        """Claim the slot."""
        watch = WriterHooks(
            on_down=lambda reason: self.said.append(f"down: {reason}"),
            on_up=lambda: self.said.append("up"),
            on_fenced=lambda: self.said.append("fenced"),
        )
        token = await claimed(self.store, 3, "engine1")
        self.writer = Writer(self.store, 3, token, lambda: 0.0, watch=watch, limit=self.limit)

    def write(self, call_id: str, number: int) -> None:
        """Write a call's step `number`; its `done` says so."""
        word = b"%d" % number
        change = Change(call_id, "pbx1", word, number, (word,), (word,))
        self.writer.write(change, lambda: self.said.append(f"{call_id}.{number}"))


@asynccontextmanager
async def scene(limit: int = 100) -> AsyncIterator[Scene]:
    """Run a writer for the length of a test."""
    opened = Scene(limit)
    await opened.open()
    running = asyncio.create_task(opened.writer.run())
    try:
        yield opened
    finally:
        running.cancel()


async def test_changes_of_one_tick_are_one_batch() -> None:
    """What is written before the loop turns is committed together; `done` follows in order."""
    async with scene() as at:
        for call_id in ("c1", "c2", "c3"):
            at.write(call_id, 0)
        assert at.said == []
        await at.writer.drain()
        assert [len(batch) for batch in at.store.batches] == [3]
        assert at.said == ["c1.0", "c2.0", "c3.0"]


async def test_changes_during_a_commit_wait_for_the_next() -> None:
    """One commit is under way at a time; a call's changes meanwhile become one."""
    async with scene() as at:
        at.store.free.clear()
        at.write("c1", 0)
        await until(lambda: len(at.store.batches) >= 1, every_s=0.001)
        at.write("c1", 1)
        at.write("c2", 0)
        at.write("c1", 2)
        at.store.free.set()
        await at.writer.drain()
        assert at.store.batches[1] == [
            Change("c1", "pbx1", b"2", 1, (b"1", b"2"), (b"1", b"2")),
            Change("c2", "pbx1", b"0", 0, (b"0",), (b"0",)),
        ]
        assert at.said == ["c1.0", "c1.1", "c2.0", "c1.2"]


async def test_a_batch_has_a_size() -> None:
    """Many waiting changes are written in several batches, so that a script stays short."""
    async with scene(limit=1000) as at:
        for number in range(600):
            at.write(f"c{number}", 0)
        await at.writer.drain()
        assert [len(batch) for batch in at.store.batches] == [256, 256, 88]


async def test_nothing_is_lost_while_the_store_is_down() -> None:
    """The same batch is tried until the store is back; down and up are told once each."""
    async with scene() as at:
        at.store.down = True
        at.write("c1", 0)
        await until(lambda: len(at.store.batches) >= 1, every_s=0.001)
        at.write("c1", 1)
        await until(lambda: len(at.store.batches) >= 3, every_s=0.001)
        assert at.said == ["down: in a bad mood"]
        assert not at.writer.is_healthy
        at.store.down = False
        await at.writer.drain()
        assert at.writer.is_healthy
        assert at.store.batches[0] == at.store.batches[1] == at.store.batches[2]
        assert at.said[1:] == ["up", "c1.0", "c1.1"]
        assert await at.store.log(3, "c1") == [b"0", b"1"]


async def test_a_newer_owner_ends_everything() -> None:
    """A fenced writer says so once, writes nothing of what waits and takes nothing more."""
    async with scene() as at:
        await claimed(at.store, 3, "engine2")
        at.write("c1", 0)
        await at.writer.drain()
        at.write("c1", 1)
        await at.writer.drain()
        assert at.said == ["fenced"]
        assert len(at.store.batches) == 1


async def test_what_waited_at_a_fenced_writer_is_its_heirs() -> None:
    """The store forgot whose the slot was: what no claim can bring back is written all the same.

    So is what came to it later, and however much waits.
    """
    async with scene() as at:
        token = await claimed(at.store, 3, "engine1")
        at.write("c1", 0)
        await at.writer.drain()
        at.write("c2", 0)
        await at.writer.drain()
        heir = Writer(at.store, 3, token, lambda: 0.0, limit=1)
        heir.take_pending_from(at.writer)
        writing = asyncio.create_task(heir.run())
        await heir.drain()
        writing.cancel()
        assert [await at.store.log(3, call) for call in ("c1", "c2")] == [[b"0"], [b"0"]]
        assert at.said == ["fenced"]


async def test_what_waits_has_a_limit() -> None:
    """At half of the limit new calls are to be refused; at the limit a change is."""
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


def test_a_change_needs_a_cause() -> None:
    """Without a log entry a repetition could not be told from a change."""
    with pytest.raises(ValueError, match="without a log entry"):
        Change("c1", "pbx1", b"", 0, ())


def test_coalescing_keeps_the_first_number_and_the_last_state() -> None:
    """The end of a call is the end of the merged change; a lone change is passed as it is."""
    first, last = (
        Change("c1", "n", b"a", 4, (b"4",)),
        Change("c1", "n", b"b", 5, (b"5",), live=False),
    )
    other = Change("c2", "n", b"x", 0, (b"0",))
    merged = coalesce([first, other, last])
    assert merged == [Change("c1", "n", b"b", 4, (b"4", b"5"), live=False), other]
    assert merged[1] is other
