"""Stretches of time, and what can be said of several: what is left of some without others."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.calls.model.call import Call
from tests.harness.sim.model import SimBridge, SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView

AT_ONCE_MS = 1_000  # of healthy time, within which what is wanted is so
Interval = tuple[float, float]


def subtract(intervals: Iterable[Interval], others: Iterable[Interval]) -> Iterator[Interval]:
    """Give what is left of stretches when others are cut out of them."""
    cuts = sorted(others)
    for begin_ms, end_ms in intervals:
        at_ms = begin_ms
        for begin, end in cuts:
            if end <= at_ms or begin >= end_ms:
                continue
            if begin > at_ms:
                yield at_ms, begin
            at_ms = max(at_ms, end)
        if at_ms < end_ms:
            yield at_ms, end_ms


def intersect(intervals: Iterable[Interval], others: Iterable[Interval]) -> Iterator[Interval]:
    """Give the parts of stretches that lie in others."""
    inside = list(others)
    for begin_ms, end_ms in intervals:
        for begin, end in inside:
            if begin < end_ms and end > begin_ms:
                yield max(begin, begin_ms), min(end, end_ms)


def merge(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """Make one of stretches that follow each other without a gap."""
    last: Interval | None = None
    for begin_ms, end_ms in sorted(intervals):
        if last is not None and begin_ms <= last[1]:
            last = last[0], max(last[1], end_ms)
            continue
        if last is not None:
            yield last
        last = begin_ms, end_ms
    if last is not None:
        yield last


def heard(world: WorldView, channel: SimChannel, kinds: Sequence[str]) -> list[Interval]:
    """List when something of these kinds was heard on a channel."""
    end_ms = world.clock.at_ms
    return [
        (span.begin_ms, end_ms if span.end_ms is None else span.end_ms)
        for span in channel.spans
        if span.kind in kinds
    ]


def lifetime(world: WorldView, thing: SimChannel | SimBridge) -> Interval:
    """Tell from when to when a channel or bridge was there."""
    return thing.born_ms, world.clock.at_ms if thing.ended_ms is None else thing.ended_ms


def intervals_when(history: CallHistory, holds: Callable[[Call], bool]) -> list[Interval]:
    """List when something was true of a call."""
    return [(begin, end) for begin, end, call in history.intervals() if holds(call)]


def is_long(world: WorldView, interval: Interval) -> bool:
    """Tell whether a stretch lasted, with nothing else wrong, longer than a change may take."""
    return world.faults.healthy_ms(*interval) > AT_ONCE_MS
