"""What a live call can't be asked to do now, and why: told to who asks, before anything happens."""

from engine.calls.model.call import Call
from engine.calls.model.requests import (
    Control,
    DialRequested,
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
    RecordingRequested,
)
from engine.calls.model.state import Detecting, Dialing, Ending, Filing, Over, Recording, Starting
from engine.calls.sessions.party_refusals import not_with_parties
from engine.calls.sessions.refusal import Refusal, conflict, full, in_transfer, no_leg, not_up


def refused(call: Call, event: Control) -> Refusal | None:
    """Tell why a request can't be done; None when it can, or when it holds already."""
    if isinstance(call.doing, (Ending, Filing, Over)):
        return conflict("call_ended", f"call {call.id} has ended")
    match event:
        case LegHangupRequested(leg):
            return no_leg(call, leg)
        case MuteRequested(leg) | HoldRequested(leg):
            return no_leg(call, leg) or not_up(call, leg) or _unconnected(call, event)
        case DialRequested():
            return _no_dial(call)
        case RecordingRequested(wanted):
            return _no_recording(call, wanted)
        case _:
            return not_with_parties(call, event)


def _unconnected(call: Call, event: Control) -> Refusal | None:
    if isinstance(event, HoldRequested) and isinstance(call.doing, Recording) and event.held:
        return conflict("message_being_left", "a message is being recorded")
    greetings = call.doing.greetings if isinstance(call.doing, Dialing) else ()
    if not isinstance(event, HoldRequested) or event.leg not in {each.leg for each in greetings}:
        return None
    return conflict("not_connected", f"channel {event.leg} is not connected yet")


def _no_dial(call: Call) -> Refusal | None:
    if isinstance(call.doing, (Starting, Detecting)):
        return conflict("not_answered", "the call is not answered yet")
    return in_transfer(call) or full(call)


def _no_recording(call: Call, wanted: str) -> Refusal | None:
    if call.archive is None:
        return conflict("no_archive", "recordings can't be kept: see recordings_url, ami_password")
    was_recorded = any(tape.purpose == "call" for tape in call.tapes)
    if wanted == "start" or call.recorded or (wanted == "stop" and was_recorded):
        return None
    return conflict("not_recorded", f"call {call.id} is not being recorded")
