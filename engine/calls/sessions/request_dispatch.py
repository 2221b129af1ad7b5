"""What people ask of a live call, handed to what does it; what can't be done changes nothing."""

from engine.calls.media import call_recording
from engine.calls.model.call import Call, Step, agent_of, expects
from engine.calls.model.commands import AnswerReferral
from engine.calls.model.requests import (
    CoachRequested,
    Control,
    DialRequested,
    HoldRequested,
    KickRequested,
    LegHangupRequested,
    MemberRequested,
    MuteRequested,
    RecordingRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferReferred,
    TransferRequested,
)
from engine.calls.model.state import Talking
from engine.calls.sessions import coaching, conference, leg_control, transfer
from engine.calls.sessions.preconditions import refused


def on_request(call: Call, event: Control, now: int) -> Step:
    """Do what was asked, if it can be done."""
    if refused(call, event) is not None:
        return call, ()
    match event:
        case LegHangupRequested() | MuteRequested() | HoldRequested():
            return leg_control.on_leg(call, event, now)
        case RecordingRequested(wanted):
            return call_recording.asked(call, wanted, now)
        case DialRequested() if call.conference is None:
            return leg_control.dial(call, event, now)
        case _ if isinstance(call.doing, Talking):
            return _in_talk(call, call.doing, event, now)
        case _:
            return call, ()


def referred(call: Call, event: TransferReferred, now: int) -> Step:
    """Make a phone's REFER the same transfer, blind: the phone wants to be let go."""
    others = [leg.id for leg in call.legs if leg.id != event.leg and expects(call, leg.id)]
    asked = TransferRequested(
        mode="blind",
        source=event.leg,
        customer=others[0] if others else "",
        party=event.party,
        source_agent=agent_of(call, event.leg),
    )
    # A call of the phone's own, which Replaces names, is another call of ours: not to be joined.
    if event.replaces or not event.party or refused(call, asked) is not None:
        return call, (AnswerReferral(event.leg, accepted=False),)
    call, commands = transfer.start(call, asked, now)
    return call, (AnswerReferral(event.leg, accepted=True), *commands)


def _in_talk(call: Call, doing: Talking, event: Control, now: int) -> Step:
    match event:
        case TransferRequested():
            return transfer.start(call, event, now)
        case TransferCompletionRequested():
            return transfer.complete(call, event, now)
        case TransferCancelRequested():
            return transfer.cancel(call, event, now)
        case MemberRequested():
            return conference.add(call, doing, event, now)
        case DialRequested(party, ring_s, caller_id):
            return conference.add(call, doing, MemberRequested(party, "", ring_s), now, caller_id)
        case KickRequested():
            return conference.put_out(call, event, now)
        case CoachRequested():
            return coaching.coach(call, event, now)
        case _:
            return call, ()
