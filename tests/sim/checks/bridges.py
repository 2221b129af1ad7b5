"""Bridges, snoops and the channels of streams exist only while their call needs them."""

from collections.abc import Iterator, Sequence

from engine.calls.media.plan import required_bridges
from engine.calls.model.call import Call
from tests.harness.sim.model import WEBSOCKET, SimBridge, SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import is_long, left_for_reaper, lifetime, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every bridge, and every channel of a snoop or a stream."""
    channels = (*world.pbx.past.values(), *world.pbx.channels.values())
    sockets = [each for each in channels if each.endpoint == WEBSOCKET]
    waiting: tuple[SimBridge | SimChannel, ...] = (
        *world.pbx.past_bridges,
        *world.pbx.bridges.values(),
        *sockets,
    )
    needed = left_for_reaper(world, histories, (each.id for each in waiting))
    for history in histories:
        for begin_ms, end_ms, call in history.intervals:
            for name in (*sorted(required_bridges(call)), *_snoops(call), *_streams(call)):
                needed.setdefault(name, []).append((begin_ms, end_ms))
    things: list[SimBridge | SimChannel] = [each for each in channels if each.snooped is not None]
    things += waiting
    for thing in things:
        for interval in subtract([lifetime(world, thing)], needed.get(thing.id, ())):
            if is_long(world, interval):
                yield thing.id, f"stood for {interval[1] - interval[0]:.0f} ms, not needed"


def _streams(call: Call) -> Iterator[str]:
    return (each.id for each in call.streams)


def _snoops(call: Call) -> tuple[str, ...]:
    members = call.conference.members if call.conference else ()
    coaches = (each.snoop for each in members if each.snoop and each.is_live)
    return (*coaches, *(each.snoop for each in call.streams if each.snoop))
