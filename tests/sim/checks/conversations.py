"""All parties of a conversation are in one bridge, except those that are on hold or coach.

So is a customer who returns from a canceled or failed transfer. This compares the PBX with the
conversation, not with the media plan.
"""

from collections.abc import Iterator, Sequence

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import Interval, is_long, merge, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every conversation."""
    for history in histories:
        for (name, bridge), due in _due(history).items():
            for interval in merge(_parted(world, name, bridge, due)):
                if is_long(world, interval):
                    yield (
                        name,
                        f"was separated from the others for {interval[1] - interval[0]:.0f} ms",
                    )


def _due(history: CallHistory) -> dict[tuple[str, str], list[Interval]]:
    found: dict[tuple[str, str], list[Interval]] = {}
    for begin_ms, end_ms, call in history.intervals:
        if isinstance(call.state, Bridged) and call.transfer is None:
            for name in _talkers(call, call.state):
                found.setdefault((name, call.state.bridge), []).append((begin_ms, end_ms))
    return found


def _talkers(call: Call, state: Bridged) -> list[str]:
    up = [each for each in (call.main, *state.legs) if call.is_up(each)]
    members = call.conference.members if call.conference else ()
    coaching = {each.leg for each in members if each.is_snooping}
    held = {each.id for each in call.legs if each.is_held}
    holding = {each.id for each in call.legs if each.held_by_phone}
    talking = {*up} - holding - coaching  # one alone hears music
    return [each for each in up if each not in coaching | held] if len(talking) > 1 else []


def _parted(world: WorldView, name: str, bridge: str, due: list[Interval]) -> Iterator[Interval]:
    channel = world.pbx.past.get(name)
    if channel is None or channel.up_ms is None:
        return
    end_ms = world.clock.at_ms if channel.ended_ms is None else channel.ended_ms
    present = [
        (span.begin_ms, end_ms if span.end_ms is None else span.end_ms)
        for span in channel.spans
        if span.kind == "bridge" and span.what == bridge
    ]
    away = [(0.0, channel.up_ms), (end_ms, max(end_ms, world.clock.at_ms))]
    yield from subtract(due, [*present, *away])
