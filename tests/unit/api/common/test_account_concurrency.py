"""Places for costly work: in turn by account, one of each at a time."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from api.common.account_concurrency import LimitedSlots
from api.common.errors import TooManyRequests
from base.fair_slots import FairSlots


class Work:
    """Work that lasts until `end` is called; `order` is that in which it began."""

    def __init__(self, slots: int = 2, most_of_account: int = 5) -> None:
        self.slots = LimitedSlots(
            "too_many_uploads", "uploads", slots=slots, most_of_account=most_of_account
        )
        self.order: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def add(self, *names: str) -> None:
        """Begin work, such as `a1`: the first of account a."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._run(name))
            await settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await settle()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        await settle()

    async def _run(self, name: str) -> None:
        async with self.slots.slot(name[0]):
            self.order.append(name)
            await self._ends[name].wait()


async def settle() -> None:
    """Let all tasks go as far as they can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_queue_of_an_account_delays_no_other() -> None:
    """It has one place, and the other one is free."""
    work = Work()
    await work.add("a1", "a2", "a3", "a4", "b1")
    assert work.order == ["a1", "b1"]


async def test_accounts_take_turns() -> None:
    """Who waits longest is next; an account that has had its turn comes after the others."""
    work = Work(slots=1)
    await work.add("a1", "a2", "a3", "b1", "b2", "c1")
    for name in ("a1", "a2", "b1", "c1", "a3"):
        await work.end(name)
    assert work.order == ["a1", "a2", "b1", "c1", "a3", "b2"]


async def test_several_places_of_an_account() -> None:
    """It has so many at once, and another account the rest."""
    turns = FairSlots(4, of_account=2)
    async with AsyncExitStack() as held:
        for account in "aab":
            await held.enter_async_context(turns.slot(account))
        third = asyncio.create_task(AsyncExitStack().enter_async_context(turns.slot("a")))
        await settle()
        assert not third.done()
        await held.enter_async_context(turns.slot("b"))
    await third


async def test_too_much_of_an_account() -> None:
    """It is refused with the limit; another account's is not, and later work is not."""
    work = Work(slots=1, most_of_account=2)
    await work.add("a1", "a2", "b1")
    with pytest.raises(TooManyRequests, match="at most 2 uploads of an account at once") as refused:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(work.slots.slot("a"))
    assert refused.value.code == "too_many_uploads"
    await work.end("a1")
    await work.add("a3")
    assert work.order == ["a1", "a2"]


@pytest.mark.parametrize("name", ["a1", "a2"])
async def test_a_client_that_leaves(name: str) -> None:
    """Work that is cancelled, running or waiting, gives its place back."""
    work = Work(slots=1, most_of_account=2)
    await work.add("a1", "a2")
    await work.cancel(name)
    await work.add("a3")
    for left in ({"a1", "a2"} - {name}) | {"a3"}:
        if left in work.order:
            await work.end(left)
    assert "a3" in work.order


async def test_a_place_is_not_lost_to_work_that_was_just_cancelled() -> None:
    """It was cancelled before the place became free, and has not run since."""
    turns, go_on, entered = FairSlots(1, 1), asyncio.Event(), list[str]()

    async def work(name: str) -> None:
        async with turns.slot("a"):
            entered.append(name)
            await go_on.wait()

    async def first() -> None:
        async with turns.slot("a"):
            await go_on.wait()
            cancelled.cancel()

    holding = asyncio.create_task(first())
    await asyncio.sleep(0)
    cancelled = asyncio.create_task(work("cancelled"))
    waiting = asyncio.create_task(work("waiting"))
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(holding, waiting)
    assert entered == ["waiting"]
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    await work("later")
    assert entered == ["waiting", "later"]
