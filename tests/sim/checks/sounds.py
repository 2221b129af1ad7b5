"""Music or ringing is heard by legs that wait for a party, and by no others.

This compares the PBX with the state of the call, not with the media plan.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from engine.calls.model.call import Call
from engine.calls.model.call_states import AwaitingInstructions, Bridged, Dialing, Streaming
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import heard, intervals_when, is_long, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the music and ringing that every leg heard."""
    for history in histories:
        for name in sorted({leg.id for m in history.steps for leg in m.call.legs}):
            channel = world.pbx.past.get(name)
            if channel is None:
                continue
            played = heard(world, channel, ("moh", "ring"))
            waiting = intervals_when(history, partial(_waits, name)) if played else []
            for interval in subtract(played, waiting):
                if interval[0] >= history.opened.created_ms and is_long(world, interval):
                    yield name, f"heard music at {interval[0]:.0f} without waiting"


def _waits(leg_id: str, call: Call) -> bool:
    leg = call.leg(leg_id)
    if leg is None or leg.is_held:
        return leg is not None
    if isinstance(call.state, Bridged) and _is_held_by_the_others(call, call.state, leg_id):
        return True
    if isinstance(call.state, Streaming):
        stream = call.stream(call.state.stream)
        # A bot may have connected to a gateway that died before the stream had its channel.
        is_heard = stream and stream.connected_ms and stream.channel == "up" and not stream.is_lost
        return leg_id == call.main and not is_heard
    if isinstance(call.state, Dialing) or (
        isinstance(call.state, AwaitingInstructions) and call.state.has_music
    ):
        return leg_id == call.main
    if call.transfer is not None:
        return leg_id == call.transfer.customer or call.transfer.state != "answered"
    members = call.conference.members if call.conference else ()
    return [each.leg for each in members if each.state == "connected"] == [leg_id]


def _is_held_by_the_others(call: Call, state: Bridged, leg_id: str) -> bool:
    """Return whether the phones of all other parties hold.

    A coach is heard by the coached leg only, unless these two are alone.
    """
    parties = {call.main, *state.legs}
    if call.transfer is not None and call.transfer.state == "answered":
        parties = {call.transfer.source, call.transfer.target}
    members = call.conference.members if call.conference else ()
    coaches = {each.leg for each in members if each.is_snooping}
    return any(_are_held(call, parties - apart - {leg_id}) for apart in (set(), coaches))


def _are_held(call: Call, parties: set[str]) -> bool:
    up = [each for each in call.legs if each.id in parties and each.state == "up"]
    return bool(up) and all(each.held_by_phone for each in up)
