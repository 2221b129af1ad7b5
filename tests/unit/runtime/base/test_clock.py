"""The event loop's clock as wall-clock time."""

import asyncio
import time

from engine.runtime.base.clock import LoopClock


async def test_now_is_wall_clock_time() -> None:
    """The clock counts milliseconds since 1970."""
    clock = LoopClock(asyncio.get_running_loop())
    assert abs(clock.now_ms() - time.time() * 1000) < 60_000


async def test_a_timer_is_never_early() -> None:
    """When a timer fires, its time has come: its deadline counts as due."""
    clock = LoopClock(asyncio.get_running_loop())
    for _ in range(20):
        due, fired = clock.now_ms() + 2, asyncio.Event()
        clock.call_at(due, fired.set)
        await fired.wait()
        assert clock.now_ms() >= due


async def test_a_past_time_fires_at_once() -> None:
    """A deadline missed in an outage fires at once; a cancelled timer never fires."""
    clock, fired = LoopClock(asyncio.get_running_loop()), asyncio.Event()
    clock.call_at(clock.now_ms() - 10_000, fired.set)
    off = asyncio.Event()
    timer = clock.call_at(clock.now_ms() - 10_000, off.set)
    timer.cancel()
    await asyncio.wait_for(fired.wait(), 5)
    assert not off.is_set()
