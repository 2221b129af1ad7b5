"""A simulated loop dies in the middle of what it does; that is done to its end, as it would be."""

import asyncio
import inspect
from collections.abc import Coroutine

from tests.harness.sim.clock import SimClock
from tests.harness.sim.loop import SimLoop, leave_loop


def test_who_waits_on_a_dead_loop_stays_as_it_is_until_that_is_done() -> None:
    """Only the loop may hold a task: woken after the death, it must not be freed at once."""
    clock = SimClock()
    loop = SimLoop(clock)
    wake = asyncio.Event()
    woken: list[int] = []

    async def wait(number: int) -> None:
        await wake.wait()
        woken.append(number)

    def crash() -> None:
        loop.die()
        wake.set()

    loop.enter()
    try:
        for number in range(2):
            loop.create_task(wait(number))
        clock.run(clock.at_ms)
        clock.soon(crash)
        clock.run(clock.at_ms)
    finally:
        leave_loop()
    assert wake.is_set()
    assert not woken


def test_what_is_begun_while_a_loop_is_closed_is_closed_too() -> None:
    """Cleanup may start a task, which would be reported in a later test."""
    clock = SimClock()
    loop = SimLoop(clock)
    begun: list[asyncio.Task[None]] = []

    async def last() -> None:
        """Do nothing; it is closed before it runs."""

    async def clean_up() -> None:
        try:
            await loop.sleep(1_000)
        finally:
            begun.append(loop.create_task(last()))

    loop.enter()
    try:
        cleaning = loop.create_task(clean_up())
        clock.run(clock.at_ms)
        loop.die()
        clock.run(clock.at_ms)
    finally:
        leave_loop()
    (task,) = begun
    assert inspect.getcoroutinestate(coroutine(task)) == inspect.CORO_CLOSED
    assert inspect.getcoroutinestate(coroutine(cleaning)) == inspect.CORO_CLOSED


def coroutine(task: asyncio.Task[None]) -> Coroutine[object, object, None]:
    """Give what a task runs."""
    found = task.get_coro()
    assert inspect.iscoroutine(found)
    return found


def test_tasks_of_a_dead_loop_are_closed_in_the_order_of_their_start() -> None:
    """Not in that of their addresses, by which a seed would play differently from run to run."""
    clock = SimClock()
    loop = SimLoop(clock)
    closed: list[int] = []

    async def work(number: int) -> None:
        try:
            await loop.sleep(1_000)
        finally:
            closed.append(number)

    loop.enter()
    try:
        tasks = [loop.create_task(work(number)) for number in range(50)]
        clock.run(clock.at_ms)
        loop.die()
        clock.run(clock.at_ms)
    finally:
        leave_loop()
    assert closed == [*range(len(tasks))]
