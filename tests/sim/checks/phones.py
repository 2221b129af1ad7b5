"""What phones request: a REFER is answered at once and notified of its outcome; a hold can end.

A leg is held by its phone exactly if its call knows it: recovery finds what was missed.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from engine.calls.model.call import Call
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import AT_ONCE_MS, heard, intersect, intervals_when, is_long, subtract
from tests.sim.world_view import WorldView


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every REFER that an engine received, and compare the phones' holds with the calls'."""
    legs = {leg.id: h for h in histories for step in h.steps for leg in step.call.legs}
    yield from _unanswered_refers(world)
    for name, history in sorted(legs.items()):
        yield from _missing_outcomes(world, name, history)
        yield from _endless_holds(world, name, history)
        yield from _unknown_holds(world, name, history)


def _unanswered_refers(world: WorldView) -> Iterator[tuple[str, str]]:
    for channel in world.pbx.past.values():
        for span in channel.spans:
            end_ms = world.clock.at_ms if span.end_ms is None else span.end_ms
            is_heard = not world.faults.is_disturbed(span.begin_ms, span.begin_ms + AT_ONCE_MS)
            if span.kind == "refer" and is_heard and is_long(world, (span.begin_ms, end_ms)):
                yield channel.id, f"REFER to {span.what} was not answered"


def _missing_outcomes(
    world: WorldView, name: str, history: CallHistory
) -> Iterator[tuple[str, str]]:
    """Yield a REFER without an outcome although its transfer is over."""
    channel = world.pbx.past.get(name)
    if channel is None:
        return
    requested = heard(world, channel, ("transfer",))
    transferring = intervals_when(history, partial(_is_referred_by, name)) if requested else []
    for begin_ms, end_ms in requested:
        if world.faults.is_disturbed(begin_ms, begin_ms + AT_ONCE_MS):
            continue  # no engine may have received it
        for interval in subtract([(begin_ms, end_ms)], transferring):
            if is_long(world, interval):
                yield name, f"REFER has no outcome at {interval[0]:.0f}"


def _is_referred_by(leg_id: str, call: Call) -> bool:
    transfer = call.transfer
    return transfer is not None and transfer.is_referred and transfer.source == leg_id


def _endless_holds(world: WorldView, name: str, history: CallHistory) -> Iterator[tuple[str, str]]:
    channel = world.pbx.past.get(name)
    if channel is None:
        return
    known = intervals_when(history, partial(_is_held, name))
    ends_ms = world.clock.at_ms if channel.ended_ms is None else channel.ended_ms
    held = [*heard(world, channel, ("phone hold",)), (ends_ms, float("inf"))]
    for interval in subtract(known, held):
        if is_long(world, interval):
            yield name, f"stayed held at {interval[0]:.0f} although its phone resumed"


def _unknown_holds(world: WorldView, name: str, history: CallHistory) -> Iterator[tuple[str, str]]:
    channel = world.pbx.past.get(name)
    if channel is None:
        return
    unaware = intervals_when(history, partial(_is_known_as_not_held, name))
    for interval in intersect(heard(world, channel, ("phone hold",)), unaware):
        if is_long(world, interval):
            yield name, f"held at {interval[0]:.0f}, which its call does not know"


def _is_held(leg_id: str, call: Call) -> bool:
    leg = call.leg(leg_id)
    return leg is not None and leg.held_by_phone


def _is_known_as_not_held(leg_id: str, call: Call) -> bool:
    leg = call.leg(leg_id)
    return leg is not None and leg.state == "up" and not leg.held_by_phone
