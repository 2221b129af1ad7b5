"""Music or ringing is heard while somebody is being called, and at no other time."""

from collections.abc import Iterator, Sequence

from engine.calls.doing import Dialing
from tests.sim.story import Story
from tests.sim.world import World

AT_ONCE_MS = 1_000
Stretch = tuple[float, float]


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check what each call's main leg heard while it waited."""
    for story in told:
        main = story.opened.main
        channel = world.pbx.past.get(main)
        if channel is None or channel.ended_ms is None:
            continue
        dialing = [(b, min(e, channel.ended_ms)) for b, e, c in story.stretches()
                   if isinstance(c.doing, Dialing)]  # fmt: skip
        played = [(s.begin_ms, s.end_ms or world.clock.at_ms) for s in channel.spans
                  if s.kind in {"ring", "moh"}]  # fmt: skip
        for begin_ms, end_ms in _without(played, dialing):
            if begin_ms >= story.opened.created_ms and _is_long(world, begin_ms, end_ms):
                yield main, f"heard music at {begin_ms:.0f} with nobody being called"
        for begin_ms, end_ms in _without(dialing, played):
            if _is_long(world, begin_ms, end_ms):
                yield main, f"heard nothing from {begin_ms:.0f} on while somebody was called"


def _is_long(world: World, begin_ms: float, end_ms: float) -> bool:
    return world.faults.healthy_ms(begin_ms, end_ms) > AT_ONCE_MS


def _without(stretches: Sequence[Stretch], others: Sequence[Stretch]) -> Iterator[Stretch]:
    for begin_ms, end_ms in stretches:
        at_ms = begin_ms
        for begin, end in sorted(others):
            if end <= at_ms or begin >= end_ms:
                continue
            if begin > at_ms:
                yield at_ms, begin
            at_ms = max(at_ms, end)
        if at_ms < end_ms:
            yield at_ms, end_ms
