"""A bridge exists only while its call needs it, and a snoop channel only while a member coaches."""

from collections.abc import Iterator, Sequence

from engine.calls.media.plan import required_bridges
from engine.calls.model.call import Call
from tests.harness.sim.model import SimBridge, SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import is_long, left_for_reaper, lifetime, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every bridge and snoop channel."""
    bridges = (*world.pbx.past_bridges, *world.pbx.bridges.values())
    needed = left_for_reaper(world, histories, (each.id for each in bridges))
    for history in histories:
        for begin_ms, end_ms, call in history.intervals:
            for name in (*required_bridges(call), *_snoops(call)):
                needed.setdefault(name, []).append((begin_ms, end_ms))
    channels = (*world.pbx.past.values(), *world.pbx.channels.values())
    things: list[SimBridge | SimChannel] = [each for each in channels if each.snooped is not None]
    things += bridges
    for thing in things:
        for interval in subtract([lifetime(world, thing)], needed.get(thing.id, ())):
            if is_long(world, interval):
                yield thing.id, f"stood for {interval[1] - interval[0]:.0f} ms, not needed"


def _snoops(call: Call) -> Iterator[str]:
    members = call.conference.members if call.conference else ()
    return (each.snoop for each in members if each.snoop and each.is_live)
