"""What a live call can't be asked to do now, and why: told to who asks, before anything happens."""

from typing import Literal

from msgspec import Struct

from engine.calls.model.call import Call
from engine.calls.model.requests import (
    AddMemberRequested,
    CoachRequested,
    ControlRequest,
    DialRequested,
    HoldRequested,
    KickRequested,
    LegHangupRequested,
    MuteRequested,
    RecordingRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.state import (
    ArchivingRecordings,
    Bridged,
    Detecting,
    Dialing,
    Ended,
    Ending,
    RecordingVoicemail,
    Starting,
)

MAX_PARTIES = 32  # in one conversation, those who are being called among them


class Rejection(Struct, frozen=True):
    """Why a request can't be done: `missing` what it names, a `conflict` with what goes on."""

    kind: Literal["missing", "conflict"]
    code: str
    detail: str


def missing(code: str, detail: str) -> Rejection:
    """Refuse what names something that is not there."""
    return Rejection("missing", code, detail)


def conflict(code: str, detail: str) -> Rejection:
    """Refuse what goes against what the call is doing."""
    return Rejection("conflict", code, detail)


def no_leg(call: Call, *legs: str) -> Rejection | None:
    """Tell which of the legs that are named is not in the call."""
    lacking = [leg for leg in legs if call.leg(leg) is None]
    return missing("no_such_leg", f"no channel {lacking[0]} in this call") if lacking else None


def not_up(call: Call, *legs: str) -> Rejection | None:
    """Tell which of them is not answered."""
    down = [leg for leg in legs if not call.is_up(leg)]
    return conflict("leg_not_up", f"channel {down[0]} is not answered") if down else None


def no_session(session: str, known: list[str]) -> Rejection | None:
    """Tell that a session is none of the call's."""
    return None if session in known else missing("no_such_session", f"no session {session}")


def in_transfer(call: Call) -> Rejection | None:
    """Tell that a transfer is going on."""
    if call.transfer is None:
        return None
    return conflict("transfer_in_progress", f"transfer {call.transfer.id} is going on")


def full(call: Call) -> Rejection | None:
    """Tell that nobody more can be called in."""
    if len(call.legs) < MAX_PARTIES:
        return None
    return conflict("too_many_parties", f"a conversation has at most {MAX_PARTIES} parties")


def check_request(call: Call, event: ControlRequest) -> Rejection | None:
    """Tell why a request can't be done; None when it can, or when it holds already."""
    if isinstance(call.state, (Ending, ArchivingRecordings, Ended)):
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
            return check_party_request(call, event)


def _unconnected(call: Call, event: ControlRequest) -> Rejection | None:
    if (
        isinstance(event, HoldRequested)
        and isinstance(call.state, RecordingVoicemail)
        and event.held
    ):
        return conflict("message_being_left", "a message is being recorded")
    greetings = call.state.screenings if isinstance(call.state, Dialing) else ()
    if not isinstance(event, HoldRequested) or event.leg not in {each.leg for each in greetings}:
        return None
    return conflict("not_connected", f"channel {event.leg} is not connected yet")


def _no_dial(call: Call) -> Rejection | None:
    if isinstance(call.state, (Starting, Detecting)):
        return conflict("not_answered", "the call is not answered yet")
    return in_transfer(call) or full(call)


def _no_recording(call: Call, wanted: str) -> Rejection | None:
    if call.recording_destination is None:
        return conflict("no_archive", "recordings can't be kept: see recordings_url, ami_password")
    was_recorded = any(tape.purpose == "call" for tape in call.recordings)
    if wanted == "start" or call.recording_enabled or (wanted == "stop" and was_recorded):
        return None
    return conflict("not_recorded", f"call {call.id} is not being recorded")


PartyRequest = (
    TransferRequested
    | TransferCompletionRequested
    | TransferCancelRequested
    | AddMemberRequested
    | KickRequested
    | CoachRequested
)


def check_party_request(call: Call, event: PartyRequest) -> Rejection | None:
    """Tell why it can't be asked; None when it can."""
    match event:
        case TransferRequested():
            return _no_transfer(call, event)
        case TransferCompletionRequested(session) | TransferCancelRequested(session):
            return no_session(session, [each.id for each in call.transfers])
        case AddMemberRequested():
            return _no_member(call, event)
        case KickRequested(session, leg):
            return _no_kick(call, session, leg)
        case CoachRequested():
            return _no_coach(call, event)


def _no_talk(call: Call) -> Rejection | None:
    if isinstance(call.state, Bridged):
        return None
    return conflict("not_in_conversation", "no two parties of this call are talking")


def _no_transfer(call: Call, asked: TransferRequested) -> Rejection | None:
    named = (asked.source, asked.customer)
    if refusal := no_leg(call, *named) or in_transfer(call) or _no_talk(call):
        return refusal
    if call.conference is not None and sum(m.is_live for m in call.conference.members) > len(named):
        return conflict("conference_in_progress", f"conference {call.conference.id} is going on")
    legs = call.state.legs if isinstance(call.state, Bridged) else ()
    if call.invited or {call.main, *legs} != set(named) or len(set(named)) != len(named):
        detail = "source and customer must be the two parties of the conversation, and no others"
        return conflict("not_the_two_parties", detail)
    return not_up(call, *named)


def _no_member(call: Call, asked: AddMemberRequested) -> Rejection | None:
    sessions = [each.id for each in call.conferences]
    if asked.session and (refusal := no_session(asked.session, sessions)):
        return refusal
    if asked.session and (call.conference is None or call.conference.id != asked.session):
        return conflict("conference_completed", f"conference {asked.session} is over")
    return in_transfer(call) or _no_talk(call) or _is_party(call, asked) or full(call)


def _is_party(call: Call, asked: AddMemberRequested) -> Rejection | None:
    """Tell that who is to be called is in the conversation already."""
    here = [leg for leg in call.legs if leg.state == "up"]
    if not any(leg.party == asked.party or leg.agent == asked.agent_id != "" for leg in here):
        return None
    return conflict("already_a_party", f"{asked.party} is in this call")


def _no_kick(call: Call, session: str, leg: str) -> Rejection | None:
    found = [each for each in call.conferences if each.id == session]
    if not found:
        return no_session(session, [])
    if all(each.leg != leg for each in found[0].members):
        return missing("no_such_member", f"no member {leg} in this conference")
    return None


def _no_coach(call: Call, asked: CoachRequested) -> Rejection | None:
    conference = call.conference
    if conference is None or conference.id != asked.session:
        known = [each.id for each in call.conferences]
        over = conflict("conference_completed", f"conference {asked.session} is over")
        return no_session(asked.session, known) or over
    for leg in filter(None, (asked.leg, asked.coached)):
        member = conference.member(leg)
        if member is None:
            return missing("no_such_member", f"no member {leg} in this conference")
        if member.state != "connected":
            return conflict("member_not_connected", f"member {leg} is not connected")
        if leg == asked.coached and (member.coaches or leg == asked.leg):
            return conflict("coach_of_a_coach", "who is coached must be another, and no coach")
    if asked.coached and any(each.coaches == asked.leg for each in conference.members):
        return conflict("coach_of_a_coach", "who is coached can't coach")
    return None
