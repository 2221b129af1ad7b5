"""Many timers behind one timer of the loop."""

import asyncio
from functools import partial

import pytest

from base.timer_heap import MIN_CANCELLED, HeapTimer, TimerHeap
from tests.harness.until import until


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
