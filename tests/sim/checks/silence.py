"""Nobody is alone in silence: who is not in a prompt of its own hears somebody, or that it waits.

This looks at the PBX and at what the call does, not at where the core seats its legs.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.state import Bridged, Dialing, Ended, Ending, Gathering
from tests.harness.sim.channel import SimChannel
from tests.sim.call_log import Story
from tests.sim.checks.durations import Span, heard, is_long, joined, when, within, without
from tests.sim.scene import World


class _Stays(Struct, frozen=True):
    """Who was in each bridge and when, and who snooped."""

    bridged: dict[str, list[tuple[str, Span]]]
    snoops: tuple[SimChannel, ...]


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check all that every leg of every call could hear."""
    stays = _stays(world)
    for story in told:
        for name in sorted({leg.id for m in story.moments for leg in m.call.legs}):
            channel = world.pbx.past.get(name)
            if channel is None or channel.up_ms is None or channel.ended_ms is None:
                continue
            for stretch in _alone(world, story, channel, stays):
                if is_long(world, stretch):
                    begin_ms, end_ms = stretch
                    yield name, f"alone in silence for {end_ms - begin_ms:.0f} ms at {begin_ms:.0f}"


def _alone(world: World, story: Story, channel: SimChannel, stays: _Stays) -> Iterator[Span]:
    waits = when(story, lambda call: _must_hear(call, channel.id))
    lives = [(channel.up_ms or 0, channel.ended_ms or 0)]
    sounds = heard(world, channel, ("moh", "ring", "play"))
    return joined(without(within(waits, lives), [*sounds, *_company(channel, stays)]))


def _must_hear(call: Call, leg_id: str) -> bool:
    leg = call.leg(leg_id)
    if leg is None or leg.state != "up":
        return False  # it has been told to hang up, or is about to be heard of
    match call.state:
        case Ending() | Ended():
            return False
        case Bridged():  # who is left by one on hold may hear silence
            return not any(other.held for other in call.legs if other is not leg)
        case Dialing(screenings=greetings):  # it speaks, or is waited for
            return leg_id not in {each.leg for each in greetings}
        case Gathering(leg=asked) if leg_id == asked:
            return False
        case _:
            return leg_id != call.main


def _stays(world: World) -> _Stays:
    bridged: dict[str, list[tuple[str, Span]]] = {}
    channels = (*world.pbx.past.values(), *world.pbx.channels.values())
    for channel in channels:
        for span in channel.spans:
            if span.kind == "bridge":
                end_ms = world.clock.at_ms if span.end_ms is None else span.end_ms
                bridged.setdefault(span.what, []).append((channel.id, (span.begin_ms, end_ms)))
    return _Stays(bridged, tuple(each for each in channels if each.snooped is not None))


def _company(channel: SimChannel, stays: _Stays) -> Iterator[Span]:
    # A coach is heard by way of its snoop.
    there = [each for each in stays.snoops if each.snooped is channel]
    for each in (channel, *there):
        for span in each.spans:
            if span.kind == "bridge" and span.end_ms is not None:
                others = [stay for who, stay in stays.bridged[span.what] if who != each.id]
                yield from within([(span.begin_ms, span.end_ms)], others)
