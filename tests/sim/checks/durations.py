"""Stretches of time, and what can be said of several: what is left of some without others."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.calls.model.call import Call
from tests.harness.sim.channel import SimBridge, SimChannel
from tests.sim.call_log import Story
from tests.sim.scene import World

AT_ONCE_MS = 1_000  # of healthy time, within which what is wanted is so
Span = tuple[float, float]


def without(stretches: Iterable[Span], others: Iterable[Span]) -> Iterator[Span]:
    """Give what is left of stretches when others are cut out of them."""
    cuts = sorted(others)
    for begin_ms, end_ms in stretches:
        at_ms = begin_ms
        for begin, end in cuts:
            if end <= at_ms or begin >= end_ms:
                continue
            if begin > at_ms:
                yield at_ms, begin
            at_ms = max(at_ms, end)
        if at_ms < end_ms:
            yield at_ms, end_ms


def within(stretches: Iterable[Span], others: Iterable[Span]) -> Iterator[Span]:
    """Give the parts of stretches that lie in others."""
    inside = list(others)
    for begin_ms, end_ms in stretches:
        for begin, end in inside:
            if begin < end_ms and end > begin_ms:
                yield max(begin, begin_ms), min(end, end_ms)


def joined(stretches: Iterable[Span]) -> Iterator[Span]:
    """Make one of stretches that follow each other without a gap."""
    last: Span | None = None
    for begin_ms, end_ms in sorted(stretches):
        if last is not None and begin_ms <= last[1]:
            last = last[0], max(last[1], end_ms)
            continue
        if last is not None:
            yield last
        last = begin_ms, end_ms
    if last is not None:
        yield last


def heard(world: World, channel: SimChannel, kinds: Sequence[str]) -> list[Span]:
    """List when something of these kinds was heard on a channel."""
    end_ms = world.clock.at_ms
    return [
        (span.begin_ms, end_ms if span.end_ms is None else span.end_ms)
        for span in channel.spans
        if span.kind in kinds
    ]


def life(world: World, thing: SimChannel | SimBridge) -> Span:
    """Tell from when to when a channel or bridge was there."""
    return thing.born_ms, world.clock.at_ms if thing.ended_ms is None else thing.ended_ms


def when(story: Story, holds: Callable[[Call], bool]) -> list[Span]:
    """List when something was true of a call."""
    return [(begin, end) for begin, end, call in story.stretches() if holds(call)]


def is_long(world: World, stretch: Span) -> bool:
    """Tell whether a stretch lasted, with nothing else wrong, longer than a change may take."""
    return world.faults.healthy_ms(*stretch) > AT_ONCE_MS
