"""A bridge exists only while its call needs it, and a snoop channel only while a member coaches."""

from collections.abc import Iterator, Sequence

from engine.calls.media.plan import required_bridges
from engine.calls.model.call import Call
from engine.calls.model.call_id_format import call_of
from tests.harness.sim.model import SimBridge, SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval, is_long, lifetime, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every bridge and snoop channel."""
    needed: dict[str, list[Interval]] = {}
    if world.faults.kinds:  # bridges that an ended call has left wait for the reaper
        ended_ms = {history.id: history.record.call.ended_ms for history in histories}
        for bridge in (*world.pbx.past_bridges, *world.pbx.bridges.values()):
            if call_ended_ms := ended_ms.get(call_of(bridge.id) or ""):
                needed[bridge.id] = [(call_ended_ms, world.clock.at_ms)]
    for history in histories:
        for begin_ms, end_ms, call in history.intervals:
            for name in (*required_bridges(call), *_snoops(call)):
                needed.setdefault(name, []).append((begin_ms, end_ms))
    channels = (*world.pbx.past.values(), *world.pbx.channels.values())
    things: list[SimBridge | SimChannel] = [each for each in channels if each.snooped is not None]
    things += [*world.pbx.past_bridges, *world.pbx.bridges.values()]
    for thing in things:
        for interval in subtract([lifetime(world, thing)], needed.get(thing.id, ())):
            if is_long(world, interval):
                yield thing.id, f"stood for {interval[1] - interval[0]:.0f} ms, not needed"


def _snoops(call: Call) -> Iterator[str]:
    members = call.conference.members if call.conference else ()
    return (each.snoop for each in members if each.snoop and each.is_live)
