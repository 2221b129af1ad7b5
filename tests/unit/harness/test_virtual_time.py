"""Tests on virtual time."""

import asyncio

import pytest

from tests.harness.virtual_time import virtual_time


@virtual_time
async def test_a_wait_ends_at_its_time() -> None:
    """An hour is over as soon as nothing else is to be done, in the order of the timers."""
    loop, seen = asyncio.get_running_loop(), list[float]()

    async def wait(delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        seen.append(round(loop.time(), 3))

    await asyncio.gather(wait(3_600), wait(0.5), wait(2))
    assert seen == [0.5, 2, 3_600]


@virtual_time
async def test_a_timeout_ends_a_wait_without_end() -> None:
    """At its time, neither before nor after."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(30):
            await asyncio.Event().wait()
    assert asyncio.get_running_loop().time() == pytest.approx(30)


def test_an_error_fails_the_test() -> None:
    """It is raised where pytest sees it."""

    @virtual_time
    async def failing() -> None:
        await asyncio.sleep(5)
        raise ValueError("found")

    with pytest.raises(ValueError, match="found"):
        failing()
