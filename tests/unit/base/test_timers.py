"""Timers after a freeze of the process: what it had received comes first."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Self

import pytest

from base.timers import MIN_CANCELLED, HeapTimer, LoopTimer, TimerHeap, timeout_after_arrivals
from tests.harness.until import until

TIMEOUT_S = 0.5
FREEZES_S = (TIMEOUT_S, 3 * TIMEOUT_S)  # the timer comes due at the end of the freeze, or before it


class FreezableLoop(asyncio.SelectorEventLoop):
    """A loop that can lose time, as if the process had been frozen (SIGSTOP)."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen_s = 0.0

    def time(self) -> float:
        """Return the time, with that of the freezes."""
        return super().time() + self.frozen_s

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Self]:
        """Make a loop and close it."""
        loop = cls()
        try:
            yield loop
        finally:
            loop.close()


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[socket.socket, asyncio.StreamReader]]:
    """Connect a socket and a reader."""
    sender, receiver = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=receiver)
    with sender:
        yield sender, reader
    writer.close()


@pytest.fixture(params=FREEZES_S)
def frozen_s(request: pytest.FixtureRequest) -> float:
    """Return the length of a freeze."""
    return float(request.param)


def test_what_arrived_during_a_freeze_comes_before_a_timer(frozen_s: float) -> None:
    """The readers of the sockets run first."""
    order: list[str] = []

    async def freeze(loop: FreezableLoop) -> None:
        is_due = asyncio.Event()

        def on_due() -> None:
            order.append("timer")
            is_due.set()

        async with connected() as (sender, reader):
            reading = asyncio.create_task(_read(reader, order))
            LoopTimer(loop, loop.time() + TIMEOUT_S, on_due)
            await asyncio.sleep(0)  # a turn of the loop, not a time: the reader waits now
            sender.sendall(b"3\n4\n5\n")
            loop.frozen_s += frozen_s
            async with asyncio.timeout(5):
                await is_due.wait()
        await reading

    with FreezableLoop.running() as loop:
        loop.run_until_complete(freeze(loop))
    assert order == [*"345", "timer"]


async def _read(reader: asyncio.StreamReader, order: list[str]) -> None:
    while line := await reader.readline():
        order.append(line.decode().strip())


def test_a_response_that_arrived_during_a_freeze_is_in_time(frozen_s: float) -> None:
    """Its timeout comes after it."""

    async def freeze(loop: FreezableLoop) -> bytes:
        async with connected() as (sender, reader):
            loop.call_soon(_freeze_after, loop, sender, frozen_s)
            async with timeout_after_arrivals(TIMEOUT_S):
                return await reader.readline()

    with FreezableLoop.running() as loop:
        assert loop.run_until_complete(freeze(loop)) == b"response\n"


def _freeze_after(loop: FreezableLoop, sender: socket.socket, frozen_s: float) -> None:
    sender.sendall(b"response\n")
    loop.frozen_s += frozen_s


async def test_a_timeout_ends_a_wait() -> None:
    """As that of asyncio does."""
    with pytest.raises(TimeoutError):
        async with timeout_after_arrivals(0.01):
            await asyncio.Event().wait()
    async with timeout_after_arrivals(60):
        pass


@pytest.fixture
def order() -> list[str]:
    """Return the names of the timers that have fired."""
    return []


async def test_timers_fire_in_the_order_of_their_times(order: list[str]) -> None:
    """Whatever the order they were set in; two at the same time in that order."""
    heap, now_s = TimerHeap(asyncio.get_running_loop()), asyncio.get_running_loop().time()
    for name, after_s in (("d", 0.03), ("b", 0.02), ("c", 0.02), ("a", -1)):
        heap.call_at(now_s + after_s, partial(order.append, name))
    await until(lambda: len(order) == 4, every_s=0.01)
    assert order == [*"abcd"]


async def test_a_cancelled_timer_does_not_fire(order: list[str]) -> None:
    """Nor does one that another timer cancels at the same moment; to repeat it is harmless."""
    heap, now_s = TimerHeap(asyncio.get_running_loop()), asyncio.get_running_loop().time()
    heap.call_at(now_s + 0.01, partial(order.append, "cancelled")).cancel()
    timers: list[HeapTimer] = []

    def cancel_all() -> None:
        for timer in timers:
            timer.cancel()

    timers.append(heap.call_at(now_s + 0.01, cancel_all))
    timers.append(heap.call_at(now_s + 0.01, partial(order.append, "second")))
    last = heap.call_at(now_s + 0.02, partial(order.append, "last"))
    await until(lambda: bool(order), every_s=0.01)
    last.cancel()
    assert order == ["last"]


async def test_a_timer_may_set_another_one(order: list[str]) -> None:
    """Also one that is due already."""
    heap, now_s = TimerHeap(asyncio.get_running_loop()), asyncio.get_running_loop().time()

    def set_another() -> None:
        order.append("first")
        heap.call_at(now_s, partial(order.append, "second"))

    heap.call_at(now_s + 0.01, set_another)
    await until(lambda: len(order) == 2, every_s=0.01)
    assert order == ["first", "second"]


async def test_an_exception_ends_no_other_timer(order: list[str]) -> None:
    """The loop's handler gets it."""
    loop = asyncio.get_running_loop()
    caught: list[object] = []
    loop.set_exception_handler(lambda _loop, context: caught.append(context["exception"]))
    heap, now_s = TimerHeap(loop), loop.time()

    def fail() -> None:
        raise ValueError

    for callback in (fail, partial(order.append, "same moment")):
        heap.call_at(now_s + 0.01, callback)
    heap.call_at(now_s + 0.02, partial(order.append, "later"))
    await until(lambda: len(order) == 2, every_s=0.01)
    assert order == ["same moment", "later"]
    assert [type(each) for each in caught] == [ValueError]


async def test_cancelled_timers_are_removed() -> None:
    """Their callbacks keep nothing alive, and the heap does not grow by them."""
    heap, now_s = TimerHeap(asyncio.get_running_loop()), asyncio.get_running_loop().time()
    kept = heap.call_at(now_s + 60, _nothing)
    for _ in range(20 * MIN_CANCELLED):
        heap.call_at(now_s + 60, _nothing).cancel()
    assert len(heap) <= MIN_CANCELLED + 1
    kept.cancel()


def _nothing() -> None:
    pass
