"""Checks of flows run beside the event loop, one at a time, with a bounded queue."""

import asyncio
import threading
import time
from contextlib import AsyncExitStack

import pytest

from base.loop_cost import CHARGE
from engine.rpc.flow_checks import FlowChecks
from engine.rpc.problems import LimitReached
from tests.harness.until import until


async def test_the_event_loop_runs_during_a_check() -> None:
    """The check waits here for what the loop does meanwhile; its error is raised."""
    checks, go_on = FlowChecks(), threading.Event()

    def check(number: int) -> int:
        if not go_on.wait(60):
            raise TimeoutError
        return 1 // number

    found = asyncio.create_task(checks.run(check, 1))
    failed = asyncio.create_task(checks.run(check, 0))
    await asyncio.sleep(0)
    go_on.set()
    assert await found == 1
    with pytest.raises(ZeroDivisionError):
        await failed


async def test_the_time_of_the_thread_is_charged() -> None:
    """Also of a check that fails."""
    checks, charged = FlowChecks(), list[float]()
    CHARGE.set(charged.append)

    def check(number: int) -> int:
        began_s = time.thread_time()
        while time.thread_time() < began_s + 0.002:
            pass
        return 1 // number

    await checks.run(check, 1)
    with pytest.raises(ZeroDivisionError):
        await checks.run(check, 0)
    assert [each >= 0.002 for each in charged] == [True, True]


async def test_an_account_has_one_check_at_a_time() -> None:
    """Another account does not wait for it; a request that is cancelled leaves the queue."""
    checks, entered, go_on = FlowChecks(), list[str](), asyncio.Event()

    async def check(account: str, name: str) -> None:
        async with checks.turn(account):
            entered.append(name)
            await go_on.wait()

    first = asyncio.create_task(check("acme", "a1"))
    second = asyncio.create_task(check("acme", "a2"))
    third = asyncio.create_task(check("acme", "a3"))
    other = asyncio.create_task(check("other", "b1"))
    await until(lambda: len(entered) == 2)
    assert entered == ["a1", "b1"]
    second.cancel()
    go_on.set()
    await asyncio.gather(first, third, other)
    assert entered == ["a1", "b1", "a3"]


async def test_the_queue_is_bounded() -> None:
    """One account's checks, and those of all; what has ended counts no more."""
    checks = FlowChecks(max_checks=3, max_account_checks=2)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(checks.turn("a"))
        waiting = asyncio.create_task(_turn(checks, "a"))
        await asyncio.sleep(0)
        with pytest.raises(LimitReached, match="2 checks of flows of account a are in progress"):
            await _turn(checks, "a")
        await stack.enter_async_context(checks.turn("b"))
        with pytest.raises(LimitReached, match="3 checks of flows are in progress"):
            await _turn(checks, "c")
    await waiting
    await _turn(checks, "c")


async def _turn(checks: FlowChecks, account: str) -> None:
    async with checks.turn(account):
        pass
