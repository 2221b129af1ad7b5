"""Operations on time intervals."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.calls.model.call import Call
from tests.harness.sim.model import SimBridge, SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.call_id_format import call_of

AT_ONCE_MS = 1_000  # time without faults within which every change is done
Interval = tuple[float, float]


def subtract(intervals: Iterable[Interval], others: Iterable[Interval]) -> Iterator[Interval]:
    """Yield the parts of intervals that lie outside others."""
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
    """Yield the parts of intervals that lie inside others."""
    inside = list(others)
    for begin_ms, end_ms in intervals:
        for begin, end in inside:
            if begin < end_ms and end > begin_ms:
                yield max(begin, begin_ms), min(end, end_ms)


def merge(intervals: Iterable[Interval]) -> Iterator[Interval]:
    """Merge adjacent and overlapping intervals."""
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
    """Return when sounds of some kinds were audible on a channel."""
    end_ms = world.clock.at_ms
    return [
        (span.begin_ms, end_ms if span.end_ms is None else span.end_ms)
        for span in channel.spans
        if span.kind in kinds
    ]


def lifetime(world: WorldView, thing: SimChannel | SimBridge) -> Interval:
    """Return when a channel or bridge existed."""
    return thing.born_ms, world.clock.at_ms if thing.ended_ms is None else thing.ended_ms


def intervals_when(history: CallHistory, holds: Callable[[Call], bool]) -> list[Interval]:
    """Return when a condition held for a call."""
    return [(begin, end) for begin, end, call in history.intervals if holds(call)]


def left_for_reaper(
    world: WorldView, histories: Iterable[CallHistory], names: Iterable[str]
) -> dict[str, list[Interval]]:
    """Return since when the reaper has to remove things that ended calls have left after faults."""
    if not world.faults.kinds:
        return {}
    ended_ms = {history.id: history.record.call.ended_ms for history in histories}
    owners = ((name, ended_ms.get(call_of(name) or "")) for name in names)
    return {name: [(since_ms, world.clock.at_ms)] for name, since_ms in owners if since_ms}


def is_long(world: WorldView, interval: Interval) -> bool:
    """Return whether an interval lasted, without faults, longer than any change may take."""
    return world.faults.healthy_ms(*interval) > AT_ONCE_MS
