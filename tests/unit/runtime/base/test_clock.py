"""The event loop's clock as wall-clock time."""

import asyncio
import time

from engine.observe.metrics import Metrics
from engine.runtime.base.clock import ClockStepCorrection, LoopClock
from tests.harness.memory_store.store import MemoryStore

START_S = 1_700_000_000


class HostClock:
    """A host's clock that is wrong by some seconds; it runs as the event loop's."""

    def __init__(self, error_s: float) -> None:
        self.error_s = error_s

    def wall_s(self) -> float:
        """Return the host's time."""
        return START_S + asyncio.get_running_loop().time() + self.error_s

    def now_ms(self) -> int:
        """Return the same in milliseconds."""
        return int(self.wall_s() * 1000)


async def test_now_is_wall_clock_time() -> None:
    """The clock counts milliseconds since 1970."""
    clock = LoopClock(asyncio.get_running_loop())
    assert abs(clock.now_ms() - time.time() * 1000) < 60_000  # the default is the host's clock


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
    async with asyncio.timeout(5):
        await fired.wait()
    assert not off.is_set()


async def test_a_clock_that_was_wrong_at_the_start_is_corrected() -> None:
    """NTP sets the host's clock: the engine's clock follows, and timers fire when they would."""
    host = HostClock(-7_200.0)
    clock = LoopClock(asyncio.get_running_loop(), host.wall_s)
    fired = asyncio.Event()
    clock.call_at(clock.now_ms() + 20, fired.set)
    host.error_s = 0.0
    moves: list[int] = []
    store, metrics = MemoryStore(host.now_ms), Metrics()
    await ClockStepCorrection(clock, store, metrics, moves.append).poll()
    [moved_ms] = moves
    assert abs(moved_ms - 7_200_000) < 1_000
    assert abs(clock.now_ms() - host.now_ms()) < 1_000
    assert abs(clock.offset_ms) < 1_000
    assert metrics.clock.corrections.total == 1
    async with asyncio.timeout(5):
        await fired.wait()


async def test_a_small_error_is_left_alone() -> None:
    """NTP corrects it slowly; no call is touched."""
    host = HostClock(0.0)
    clock = LoopClock(asyncio.get_running_loop(), host.wall_s)
    host.error_s = 0.7
    moves: list[int] = []
    await ClockStepCorrection(clock, MemoryStore(clock.now_ms), Metrics(), moves.append).poll()
    assert moves == []


async def test_a_clock_that_differs_from_the_stores_is_measured() -> None:
    """The calls are stored with the new difference: another engine moves their times by it."""
    clock = LoopClock(asyncio.get_running_loop())
    metrics, moves = Metrics(), list[int]()
    behind_ms = 0
    store = MemoryStore(lambda: clock.now_ms() - behind_ms)
    monitor = ClockStepCorrection(clock, store, metrics, moves.append)
    await monitor.poll()
    assert moves == []
    behind_ms = 3_600_000  # another server took over
    for _ in range(2):
        await monitor.poll()
    assert moves == [0]
    assert abs(clock.offset_ms - 3_600_000) < 1_000
    assert abs(metrics.clock.offset.total - 3_600) <= 1
