"""The loop of a gateway waits for messages while it has many streams."""

import asyncio
from collections.abc import Sequence

import pytest

from streams.gateway import MIN_STREAMS, WAIT_S, Batching


class Clock:
    """A loop whose turns last a while; it notes how it was delayed."""

    def __init__(self, turn_s: float) -> None:
        self._turn_s = turn_s
        self._at_s = 100.0
        self.sleeps: list[float] = []

    def now_s(self) -> float:
        return self._at_s

    def sleep(self, seconds: float) -> None:
        self._at_s += seconds
        self.sleeps.append(seconds)

    def turn(self, batching: Batching) -> bool:
        self._at_s += self._turn_s
        return batching.wait()


def turns(streams: Sequence[int], turn_s: float) -> tuple[list[bool], list[float]]:
    """Return whether the loop waits in each of four turns, and for how long."""
    clock = Clock(turn_s)
    batching = Batching(streams, clock.sleep, clock.now_s)
    return [clock.turn(batching) for _ in range(4)], clock.sleeps


def test_messages_of_many_streams_wait_for_each_other() -> None:
    """The first turn has a long one before it."""
    assert turns(range(MIN_STREAMS), 0.0002) == ([True] * 4, [WAIT_S] * 3)


def test_nothing_waits_behind_a_long_turn() -> None:
    """A busy loop has enough to do in each turn: a wait would only cost capacity."""
    assert turns(range(MIN_STREAMS), 0.002) == ([True] * 4, [])


def test_few_streams_do_not_wait() -> None:
    """It would cost them time, and save nothing."""
    assert turns(range(MIN_STREAMS - 1), 0.0002) == ([False] * 4, [])


async def test_it_goes_on_until_cancelled() -> None:
    """Each turn of the loop has its wait."""
    waits: list[float] = []
    done = asyncio.Event()

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            done.set()

    task = asyncio.create_task(Batching(range(MIN_STREAMS), sleep, lambda: 0.0).run())
    await done.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waits == [WAIT_S] * len(waits)
