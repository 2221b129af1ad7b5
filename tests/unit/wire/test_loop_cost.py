"""What a request costs: its synchronous steps, and nothing of its waits."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from base.loop_cost import from_header, metered, to_header


class Meter:
    """A clock that only work moves, and the sum of what is charged."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.charged: list[float] = []

    def work(self, seconds: float) -> None:
        self.now_s += seconds

    def clock(self) -> float:
        return self.now_s


async def test_each_step_is_charged() -> None:
    """What other tasks do while it waits is not."""
    meter, go_on = Meter(), asyncio.Event()

    async def work() -> str:
        meter.work(1)
        await go_on.wait()
        meter.work(2)
        return "done"

    task = asyncio.create_task(_run(work(), meter))
    await asyncio.sleep(0)
    assert meter.charged == [1]
    meter.work(100)
    go_on.set()
    assert await task == "done"
    assert meter.charged == [1, 2]


async def test_an_error_is_raised_and_charged() -> None:
    meter = Meter()

    async def work() -> str:
        meter.work(1)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await _run(work(), meter)
    assert meter.charged == [1]


async def test_a_cancellation_arrives() -> None:
    """The coroutine may end its work; that is charged, too."""
    meter = Meter()

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            meter.work(3)
        return ""

    task = asyncio.create_task(_run(work(), meter))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sum(meter.charged) == 3


async def test_an_error_of_what_it_waits_for() -> None:
    """It is raised where the coroutine waits."""
    meter = Meter()
    failing: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> str:
        try:
            await failing
        except OSError as error:
            return str(error)
        return ""

    task = asyncio.create_task(_run(work(), meter))
    await asyncio.sleep(0)
    failing.set_exception(OSError("lost"))
    assert await task == "lost"


@pytest.mark.parametrize("value", [None, "", "cpu;dur=", "cpu;dur=x", "db;dur=1", "cpu;dur=1e9"])
def test_a_header_without_a_cost(value: str | None) -> None:
    assert from_header(value) == 0


def test_a_header_has_the_cost() -> None:
    assert to_header(0.0214) == "cpu;dur=21.400"
    assert from_header(to_header(0.0214)) == pytest.approx(0.0214)


async def _run(work: Coroutine[Any, Any, str], meter: Meter) -> str:
    return await metered(work, meter.charged.append, meter.clock)
