"""Dispatches control requests of a live call; a rejected request changes nothing."""

from engine.calls.media import call_recording, streams
from engine.calls.model.call import Call, Step, agent_of, full_party, is_expected
from engine.calls.model.call_states import Bridged
from engine.calls.model.commands import AnswerRefer
from engine.calls.model.requests import (
    AddMemberRequested,
    CoachRequested,
    ControlRequest,
    DialRequested,
    ForkRequested,
    HoldRequested,
    KickRequested,
    LegHangupRequested,
    MuteRequested,
    RecordingRequested,
    ReferReceived,
    ReplacementArrived,
    StreamRequest,
    StreamStopRequested,
    StreamTextRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.sessions import (
    coaching,
    conference,
    invites,
    leg_control,
    replacement,
    transfer,
)
from engine.calls.sessions.preconditions import PartyRequest, check_request
from engine.calls.verbs import forks, stream
from wire.party import Party
from wire.streams.setup import TextMessage


def on_request(call: Call, event: ControlRequest, now: int) -> Step:
    """Apply a request if its preconditions hold."""
    if check_request(call, event) is not None:
        return call, ()
    match event:
        case LegHangupRequested() | MuteRequested() | HoldRequested():
            return leg_control.apply(call, event, now)
        case RecordingRequested(action):
            return call_recording.apply_request(call, action, now)
        case DialRequested():
            return _dial(call, event, now)
        case ForkRequested() | StreamStopRequested() | StreamTextRequested():
            return _on_stream(call, event, now)
        case request:
            if not isinstance(call.state, Bridged):
                return call, ()
            return _on_bridged(call, call.state, request, now)


def _on_stream(call: Call, event: StreamRequest, now: int) -> Step:
    match event:
        case ForkRequested(data) if forks.fork_with(call, data) is None:
            return forks.start_fork(call, data, None, now)
        case ForkRequested():
            return call, ()
        case StreamStopRequested(stream_id):
            return stream.stop(call, stream_id, now)
        case StreamTextRequested(stream_id, text):
            call, command = streams.send(call, stream_id, TextMessage(text))
            return call, (command,)


def on_refer(call: Call, event: ReferReceived | ReplacementArrived, now: int) -> Step:
    """Transfer a party at the request of a phone, and notify the phone of the outcome."""
    match event:
        case ReplacementArrived():
            return replacement.on_arrival(call, event, now)
        case ReferReceived() if _is_referring(call, event.leg):
            # An answer to it would be one to the first REFER, too (docs/asterisk.md).
            return call, ()
        case ReferReceived(replaces=True):
            return replacement.on_refer(call, event, now)
        case ReferReceived():
            return _refer_blindly(call, event, now)


def _refer_blindly(call: Call, event: ReferReceived, now: int) -> Step:
    others = [leg.id for leg in call.legs if leg.id != event.leg and is_expected(call, leg.id)]
    request = TransferRequested(
        mode="blind",
        source=event.leg,
        customer=others[0] if others else "",
        party=full_party(call, event.party),
        source_agent=agent_of(call, event.leg),
    )
    is_impossible = not event.party or event.rejection
    if is_impossible or check_request(call, request) is not None:
        return call, (AnswerRefer(event.leg, accepted=False),)
    call, commands = transfer.start(call, request, now, is_referred=True)
    return call, (AnswerRefer(event.leg, True, "in-progress"), *commands)


def decline_lost_refers(call: Call) -> tuple[AnswerRefer, ...]:
    """Decline what agents' phones may have sent while no engine listened: they wait for an answer.

    Without a REFER, the PBX ignores it (docs/asterisk.md).
    """
    legs = (leg for leg in call.legs if leg.state == "up" and leg.agent_id)
    return tuple(AnswerRefer(leg.id, False) for leg in legs if not _is_referring(call, leg.id))


def _is_referring(call: Call, leg: str) -> bool:
    """Return whether a phone waits for the outcome of a REFER."""
    live = call.transfer
    return live is not None and live.is_referred and live.source == leg


def _dial(call: Call, event: DialRequested, now: int) -> Step:
    """Dial a party in; in a conference it becomes a member."""
    if call.conference is None:
        return invites.dial(call, event, now)
    if not isinstance(call.state, Bridged):
        return call, ()
    agent_id = Party.parse(event.party).agent_id or ""
    request = AddMemberRequested(event.party, "", event.ring_s, agent_id=agent_id)
    return conference.add_member(call, call.state, request, now, event.caller_id)


def _on_bridged(call: Call, state: Bridged, event: PartyRequest, now: int) -> Step:
    match event:
        case TransferRequested():
            return transfer.start(call, event, now)
        case TransferCompletionRequested():
            return transfer.complete(call, event, now)
        case TransferCancelRequested():
            return transfer.cancel(call, event, now)
        case AddMemberRequested():
            return conference.add_member(call, state, event, now)
        case KickRequested():
            return conference.kick(call, event, now)
        case CoachRequested():
            return coaching.coach(call, event, now)
