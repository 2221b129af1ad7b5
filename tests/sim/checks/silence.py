"""No leg waits in silence: it hears a prompt, another party, or music.

This compares the PBX with the state of the call, not with the media plan.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged, Dialing, Ended, Ending, Gathering, Streaming
from tests.harness.sim.model import SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval, heard, intersect, intervals_when, is_long, merge, subtract
from tests.sim.world_view import WorldView


class _Presence(Struct, frozen=True):
    """Which channels were in each bridge and when, and the snoop channels."""

    bridged: dict[str, list[tuple[str, Interval]]]
    snoops: tuple[SimChannel, ...]


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check what every leg of every call could hear."""
    presence = _presence(world)
    for history in histories:
        for name in sorted({leg.id for m in history.steps for leg in m.call.legs}):
            channel = world.pbx.past.get(name)
            if channel is None or channel.up_ms is None or channel.ended_ms is None:
                continue
            for interval in _alone(world, history, channel, presence):
                if is_long(world, interval):
                    begin_ms, end_ms = interval
                    yield name, f"alone in silence for {end_ms - begin_ms:.0f} ms at {begin_ms:.0f}"


def _alone(
    world: WorldView, history: CallHistory, channel: SimChannel, presence: _Presence
) -> Iterator[Interval]:
    waits = intervals_when(history, lambda call: _must_hear(call, channel.id))
    lifetimes = [(channel.up_ms or 0, channel.ended_ms or 0)]
    sounds = heard(world, channel, ("moh", "ring", "play"))
    return merge(subtract(intersect(waits, lifetimes), [*sounds, *_company(channel, presence)]))


def _must_hear(call: Call, leg_id: str) -> bool:
    leg = call.leg(leg_id)
    if leg is None or leg.state != "up" or leg.held_by_phone:
        return False  # it is being hung up, or not known yet, or its phone does not listen
    match call.state:
        case Ending() | Ended():
            return False
        case Streaming():  # before the first channel is up
            return True
        case Bridged():  # the other party of a held leg may hear silence
            return not any(other.held for other in call.legs if other is not leg)
        case Dialing(screenings=screenings):  # it is being screened
            return leg_id not in {each.leg for each in screenings}
        case Gathering(leg=gathering) if leg_id == gathering:
            return False
        case _:
            return leg_id != call.main


def _presence(world: WorldView) -> _Presence:
    bridged: dict[str, list[tuple[str, Interval]]] = {}
    channels = (*world.pbx.past.values(), *world.pbx.channels.values())
    for channel in channels:
        for span in channel.spans:
            if span.kind == "bridge":
                end_ms = world.clock.at_ms if span.end_ms is None else span.end_ms
                bridged.setdefault(span.what, []).append((channel.id, (span.begin_ms, end_ms)))
    return _Presence(bridged, tuple(each for each in channels if each.snooped is not None))


def _company(channel: SimChannel, presence: _Presence) -> Iterator[Interval]:
    # A coach is audible through its snoop channel.
    present = [each for each in presence.snoops if each.snooped is channel]
    for each in (channel, *present):
        for span in each.spans:
            if span.kind == "bridge" and span.end_ms is not None:
                others = [
                    interval for name, interval in presence.bridged[span.what] if name != each.id
                ]
                yield from intersect([(span.begin_ms, span.end_ms)], others)
