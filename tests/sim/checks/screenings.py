"""A screened leg is connected only after the right digit and, if requested, as no machine.

Only a machine is refused after detection.

This checks what was heard and pressed, and the bridges of the PBX.
"""

from collections.abc import Iterator, Sequence

from engine.calls.model.call import Call
from engine.calls.model.call_states import Bridged, Dialing
from engine.calls.model.causes import REJECTED
from engine.calls.model.commands import Hangup
from engine.calls.model.events import DigitPressed, Event
from engine.calls.replay_audit import ReplayStep
from tests.sim.call_histories import CallHistory
from tests.sim.intervals import heard, intersect, is_long
from tests.sim.world_view import WorldView
from wire.answer_detection import MachineDetection
from wire.verbs import DialData


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every dial."""
    for history in histories:
        before = history.opened
        for step in history.steps:
            if isinstance(before.state, Dialing):
                for message in _connected(before, before.state, step):
                    yield history.id, message
                for leg in _refused(before, before.state, step):
                    yield leg, "is no machine, but was refused as one"
            before = step.call
        for begin_ms, end_ms, call in history.intervals:
            if isinstance(call.state, Dialing):
                for screening in call.state.screenings:
                    yield from _bridged_too_soon(world, screening.leg, (begin_ms, end_ms))


def _connected(before: Call, dialing: Dialing, step: ReplayStep) -> Iterator[str]:
    event, call = step.event, step.call
    if not isinstance(call.state, Bridged):
        return
    data, leg = dialing.verb.data, call.leg(call.state.leg)
    if data.confirm is not None and not _is_confirmed(before, event, call.state.leg, data):
        yield f"{call.state.leg} was connected by {event} without its digit"
    detection = data.machine_detection
    is_unwanted = isinstance(detection, MachineDetection) and detection.on_machine == "hangup"
    if is_unwanted and leg is not None and leg.answered_by == "machine":
        yield f"{leg.id} is a machine, but was connected"


def _refused(before: Call, dialing: Dialing, step: ReplayStep) -> Iterator[str]:
    detecting = {each.leg for each in dialing.screenings if each.stage == "detecting"}
    for command in step.commands:
        if isinstance(command, Hangup) and command.cause == REJECTED and command.leg in detecting:
            leg = step.call.leg(command.leg)
            typed = before.leg(command.leg)
            if typed is not None and typed.typed_ahead:
                continue  # a wrong key, typed ahead of the confirmation
            if leg is not None and leg.answered_by != "machine":
                yield leg.id


def _is_confirmed(before: Call, event: Event, leg_id: str, data: DialData) -> bool:
    """Return whether the digit was pressed now, or typed ahead of the confirmation."""
    leg = before.leg(leg_id)
    if leg is None or data.confirm is None:
        return False
    if isinstance(event, DigitPressed):
        return (event.leg, event.digit) == (leg_id, data.confirm.digit)
    return data.confirm.digit in [each.digit for each in leg.typed_ahead]


def _bridged_too_soon(
    world: WorldView, leg: str, interval: tuple[float, float]
) -> Iterator[tuple[str, str]]:
    channel = world.pbx.past.get(leg)
    if channel is None:
        return
    for begin_ms, end_ms in intersect([interval], heard(world, channel, ("bridge",))):
        if is_long(world, (begin_ms, end_ms)):
            yield leg, f"was in a bridge for {end_ms - begin_ms:.0f} ms during its screening"
