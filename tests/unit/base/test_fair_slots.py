"""Slots that accounts share: limits, turns, cancellation."""

import asyncio

from base.fair_slots import URGENCY, FairSlots, Urgency


class Users:
    """Tasks that hold a slot until the test ends them; `order` has them as they got it."""

    def __init__(self, slots: FairSlots) -> None:
        self.order: list[str] = []
        self.urgency: dict[str, Urgency] = {}
        self._slots = slots
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, *names: str) -> None:
        """Start a task for each name, whose first letter is its account; with `?`: not urgent."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._use(name))
        await _run_ready()

    async def end(self, name: str) -> None:
        """End a task that has a slot."""
        self._ends[name].set()
        await _run_ready()

    async def _use(self, name: str) -> None:
        URGENCY.set(self.urgency.setdefault(name, Urgency(is_urgent=not name.endswith("?"))))
        async with self._slots.slot(name[0]):
            self.order.append(name)
            await self._ends[name].wait()


async def _run_ready() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_account_has_all_slots() -> None:
    """One stays free for others, however many requests the first account has."""
    users = Users(FairSlots(3, 2))
    await users.start("a1", "a2", "a3", "a4")
    assert users.order == ["a1", "a2"]
    await users.start("b1")
    assert users.order == ["a1", "a2", "b1"]
    await users.end("a1")
    assert users.order == ["a1", "a2", "b1", "a3"]


async def test_accounts_take_turns() -> None:
    """Each in its own order; the number of an account's requests makes no difference."""
    users = Users(FairSlots(1, 1))
    await users.start("a1", "a2", "a3", "b1", "c1", "c2")
    for name in ("a1", "a2", "b1", "c1", "a3"):
        await users.end(name)
    assert users.order == ["a1", "a2", "b1", "c1", "a3", "c2"]


async def test_cancelled_requests_leave_no_trace() -> None:
    """While they wait, and in the instant in which they get their slot."""
    users = Users(FairSlots(1, 1))
    await users.start("a1", "a2", "b1", "b2")
    users.tasks["a2"].cancel()
    users.tasks["a1"].cancel()  # its slot is b1's, which is cancelled before it knows
    await asyncio.sleep(0)
    users.tasks["b1"].cancel()
    await _run_ready()
    assert users.order == ["a1", "b2"]
    await users.end("b2")
    await users.start("a3")
    assert users.order == ["a1", "b2", "a3"]


async def test_urgent_requests_go_first() -> None:
    """Also those of an account whose others are not urgent, whatever came earlier."""
    users = Users(FairSlots(1, 1))
    await users.start("a1", "a2?", "b1?", "b2", "a3")
    for name in ("a1", "a3", "b2", "a2?"):
        await users.end(name)
    assert users.order == ["a1", "a3", "b2", "a2?", "b1?"]


async def test_a_slot_stays_free_for_urgent_requests() -> None:
    """However many others wait, an urgent request waits for none of them."""
    users = Users(FairSlots(3, 3))
    await users.start("a1?", "b1?", "c1?", "d1?")
    assert users.order == ["a1?", "b1?"]
    await users.start("e1")
    assert users.order == ["a1?", "b1?", "e1"]


async def test_a_request_that_becomes_urgent() -> None:
    """It gets the free slot at once, or goes before the others."""
    users = Users(FairSlots(2, 2))
    await users.start("a1?", "b1?", "c1?")
    users.urgency["c1?"].rise()
    await _run_ready()
    assert users.order == ["a1?", "c1?"]
