"""The channel of a stream exists only while its call has the stream."""

from collections.abc import Iterator, Sequence

from engine.calls.model.call import Call
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import is_long, left_for_reaper, lifetime, subtract
from tests.sim.world_view import WorldView

ENDPOINT = "WebSocket"  # of a stream's channel


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the channel of every stream."""
    channels = [
        each
        for each in (*world.pbx.past.values(), *world.pbx.channels.values())
        if each.endpoint == ENDPOINT
    ]
    needed = left_for_reaper(world, histories, (each.id for each in channels))
    for history in histories:
        for begin_ms, end_ms, call in history.intervals:
            for name in _streams(call):
                needed.setdefault(name, []).append((begin_ms, end_ms))
    for channel in channels:
        for interval in subtract([lifetime(world, channel)], needed.get(channel.id, ())):
            if is_long(world, interval):
                yield channel.id, f"stood for {interval[1] - interval[0]:.0f} ms, not needed"


def _streams(call: Call) -> Iterator[str]:
    return (each.id for each in call.streams)
