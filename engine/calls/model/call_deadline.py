"""When a call acts next without an event."""

from engine.calls.model.call import Call, invited_legs
from engine.calls.model.call_states import (
    Advance,
    ArchivingRecordings,
    AwaitingInstructions,
    Bridged,
    ClosingState,
    Detecting,
    Dialing,
    Ended,
    Ending,
    Gathering,
    Pausing,
    Playing,
    RecordingVoicemail,
    Starting,
    Streaming,
)


def deadline_ms(call: Call) -> int | None:
    """Return when the call next acts without an event; None when it has ended."""
    own = own_deadline_ms(call)
    if own is None or isinstance(call.state, ClosingState):
        return own
    due = [leg.hangup_due_ms for leg in call.legs if leg.hangup_due_ms]
    if call.taps_paused_until_ms:
        due.append(call.taps_paused_until_ms)
    for stream in call.streams:
        due += [each for each in (stream.due_ms, stream.limit_ms) if each]
    if call.invited or call.transfers:
        waiting = (leg for leg in call.legs if leg.id in invited_legs(call) and leg.state != "up")
        due += [leg.ring_deadline_ms for leg in waiting]
    return min([own, *due]) if due else own


def own_deadline_ms(call: Call) -> int | None:
    """Return the deadline of the call's state, without those of invited legs."""
    match call.state:
        case Gathering() | Playing() | Pausing() | AwaitingInstructions() as state:
            return min(state.deadline_ms, call.must_end_ms)
        case Streaming() as state:
            return min(state.deadline_ms, call.must_end_ms)
        case Ended() | Advance():
            return None
        case Ending(deadline_ms=deadline) | ArchivingRecordings(deadline_ms=deadline):
            return deadline
        case Dialing() as state:
            return min(state.due_ms, call.must_end_ms)
        case Bridged() if call.transfer is not None:
            return call.must_end_ms  # the dial's limit counts again when the source returns
        case Starting() | Detecting() | RecordingVoicemail() | Bridged() as state:
            return min(state.deadline_ms, call.must_end_ms)


def ring_deadline_ms(call: Call, leg_id: str, now: int, otherwise: int) -> int:
    """Return until when a leg that was just created may ring; `otherwise` in other states."""
    leg = call.leg(leg_id)
    return now + leg.ring_timeout_ms if leg is not None and leg.state == "created" else otherwise
