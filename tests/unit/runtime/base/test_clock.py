"""The event loop's clock as wall-clock time."""

import asyncio
import socket
import time

from engine.observe.metrics import Metrics
from engine.runtime.base.clock import LoopClock
from engine.runtime.base.clock_step_correction import ClockStepCorrection
from engine.store.memory.store import MemoryStore

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


class FreezableLoop(asyncio.SelectorEventLoop):
    """A loop that can lose time, as if the process had been frozen (SIGSTOP)."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen_s = 0.0

    def time(self) -> float:
        """Return the time, with that of the freezes."""
        return super().time() + self.frozen_s


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
    await asyncio.wait_for(fired.wait(), 5)
    assert not off.is_set()


def test_what_arrived_during_a_freeze_comes_before_the_timers() -> None:
    """A timer that came due meanwhile fires after the readers of the sockets."""
    loop = FreezableLoop()
    try:
        for frozen_s in (0.5, 1.5):  # the timer comes due at the end of the freeze, or before it
            assert loop.run_until_complete(_order_after_freeze(loop, frozen_s)) == [*"345", "timer"]
    finally:
        loop.close()


async def _order_after_freeze(loop: FreezableLoop, frozen_s: float) -> list[str]:
    """Return what a reader and a timer of half a second saw, in order."""
    order: list[str] = []
    is_due = asyncio.Event()
    sender, receiver = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=receiver)

    async def read() -> None:
        while line := await reader.readline():
            order.append(line.decode().strip())

    def on_due() -> None:
        order.append("timer")
        is_due.set()

    reading = asyncio.create_task(read())
    clock = LoopClock(loop)
    clock.call_at(clock.now_ms() + 500, on_due)
    await asyncio.sleep(0)
    sender.sendall(b"3\n4\n5\n")
    loop.frozen_s += frozen_s
    await asyncio.wait_for(is_due.wait(), 5)
    sender.close()
    await reading
    writer.close()
    return order


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
    await asyncio.wait_for(fired.wait(), 5)


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
