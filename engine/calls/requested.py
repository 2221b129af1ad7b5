"""What people ask of a live call, handed to what does it; what can't be done changes nothing."""

from engine.calls import conference, control, transfer
from engine.calls.call import Call, Step
from engine.calls.doing import Talking
from engine.calls.events import (
    CoachRequested,
    Control,
    DialRequested,
    HoldRequested,
    KickRequested,
    LegHangupRequested,
    MemberRequested,
    MuteRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.refusals import refused


def on_request(call: Call, event: Control, now: int) -> Step:
    """Do what was asked, if it can be done."""
    if refused(call, event) is not None:
        return call, ()
    match event:
        case LegHangupRequested() | MuteRequested() | HoldRequested():
            return control.on_leg(call, event, now)
        case DialRequested() if call.conference is None:
            return control.dial(call, event, now)
        case _ if isinstance(call.doing, Talking):
            return _in_talk(call, call.doing, event, now)
        case _:
            return call, ()


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
        case DialRequested(party=party, ring_s=ring_s):
            return conference.add(call, doing, MemberRequested(party, "", ring_s), now)
        case KickRequested():
            return conference.put_out(call, event, now)
        case CoachRequested():
            return conference.coach(call, event, now)
        case _:
            return call, ()
