"""A simulated loop dies in the middle of what it does; that is done to its end, as it would be."""

import asyncio

from tests.harness.sim_clock import SimClock
from tests.harness.sim_loop import SimLoop, leave_loop


def test_who_waits_on_a_dead_loop_stays_as_it_is_until_that_is_done() -> None:
    """Nobody but the loop may hold a task: woken after the death, it must not be freed at once."""
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
