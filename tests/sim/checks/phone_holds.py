"""A leg that a call knows as held by its phone is held: a missed resume is found by recovery."""

from collections.abc import Iterator, Sequence
from functools import partial

from engine.calls.model.call import Call
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import heard, intervals_when, is_long, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Compare the phones' holds with those of every call."""
    for history in histories:
        for name in sorted({leg.id for m in history.steps for leg in m.call.legs}):
            channel = world.pbx.past.get(name)
            if channel is None:
                continue
            known = intervals_when(history, partial(_is_held, name))
            ends_ms = world.clock.at_ms if channel.ended_ms is None else channel.ended_ms
            held = [*heard(world, channel, ("phone hold",)), (ends_ms, float("inf"))]
            for interval in subtract(known, held):
                if is_long(world, interval):
                    yield name, f"stayed held at {interval[0]:.0f} although its phone resumed"


def _is_held(leg_id: str, call: Call) -> bool:
    leg = call.leg(leg_id)
    return leg is not None and leg.held_by_phone
