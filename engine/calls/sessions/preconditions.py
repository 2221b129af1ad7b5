"""Checks whether a live call can apply a control request, before anything changes."""

from typing import Literal

from msgspec import Struct

from engine.calls.media.call_recording import MAX_RECORDINGS, is_full
from engine.calls.model.call import Call
from engine.calls.model.call_states import (
    Bridged,
    ClosingState,
    Detecting,
    Dialing,
    RecordingVoicemail,
    Starting,
    Streaming,
)
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
    RecordingAction,
    RecordingRequested,
    StreamRequest,
    StreamStopRequested,
    StreamTextRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.verbs.forks import MAX_FORKS, bot_forks, fork_with
from wire.party import Party

MAX_PARTIES = 32  # in one conversation, including invited ones

PartyRequest = (
    TransferRequested
    | TransferCompletionRequested
    | TransferCancelRequested
    | AddMemberRequested
    | KickRequested
    | CoachRequested
)


class Rejection(Struct, frozen=True):
    """Why a request is rejected: what it names is `missing`, or it is in `conflict`."""

    kind: Literal["missing", "conflict"]
    code: str
    detail: str


def check_request(call: Call, request: ControlRequest) -> Rejection | None:
    """Return why a request is rejected; None if it can be applied, or already holds."""
    if isinstance(call.state, ClosingState):
        return _conflict("call_ended", f"call {call.id} has ended")
    match request:
        case LegHangupRequested(leg):
            return _check_legs(call, leg)
        case MuteRequested(leg):
            return _check_legs(call, leg) or _check_up(call, leg)
        case HoldRequested(leg):
            return _check_legs(call, leg) or _check_up(call, leg) or _check_hold(call, request)
        case DialRequested():
            return _check_dial(call)
        case RecordingRequested(action):
            return _check_recording(call, action)
        case ForkRequested() | StreamStopRequested() | StreamTextRequested():
            return _check_stream(call, request)
        case _:
            return check_party_request(call, request)


def check_party_request(call: Call, request: PartyRequest) -> Rejection | None:
    """Return why a transfer or conference request is rejected; None if it can be applied."""
    match request:
        case TransferRequested():
            return _check_transfer(call, request)
        case TransferCompletionRequested(session) | TransferCancelRequested(session):
            return _check_session(session, [each.id for each in call.transfers])
        case AddMemberRequested():
            return _check_member(call, request)
        case KickRequested(session, leg):
            return _check_kick(call, session, leg)
        case CoachRequested():
            return _check_coach(call, request)


def _check_hold(call: Call, request: HoldRequested) -> Rejection | None:
    leg = call.leg(request.leg)
    if not request.held and leg is not None and leg.is_held_by_phone and not leg.held:
        detail = f"the phone of channel {request.leg} holds; only the phone can resume"
        return _conflict("held_by_phone", detail)
    if request.held and isinstance(call.state, RecordingVoicemail):
        return _conflict("message_being_left", "a message is being recorded")
    screenings = call.state.screenings if isinstance(call.state, Dialing) else ()
    if request.leg not in {each.leg for each in screenings}:
        return None
    return _conflict("not_connected", f"channel {request.leg} is not connected yet")


def _check_dial(call: Call) -> Rejection | None:
    return _check_answered(call) or _check_no_transfer(call) or _check_capacity(call)


def _check_answered(call: Call) -> Rejection | None:
    if isinstance(call.state, (Starting, Detecting)):
        return _conflict("not_answered", "the call is not answered yet")
    return None


def _check_recording(call: Call, action: RecordingAction) -> Rejection | None:
    if call.recording_destination is None:
        return _conflict("no_archive", "recordings can't be kept: see recordings_url, ami_password")
    if action == "start" and is_full(call):
        return _conflict("too_many_recordings", f"the call has {MAX_RECORDINGS} recordings")
    was_recorded = any(each.purpose == "call" for each in call.recordings)
    if action == "start" or call.recording_enabled or (action == "stop" and was_recorded):
        return None
    return _conflict("not_recorded", f"call {call.id} is not being recorded")


def _is_resuming(call: Call, request: StreamRequest) -> bool:
    """Return whether a stream is to end whose bot is about to be called again."""
    if not isinstance(request, StreamStopRequested) or not isinstance(call.state, Streaming):
        return False
    return request.stream == call.state.id


def _check_stream(call: Call, request: StreamRequest) -> Rejection | None:
    if not isinstance(request, ForkRequested):
        found = call.stream(request.stream)
        is_known = _is_resuming(call, request) or (found is not None and not found.is_recognizer)
        detail = f"no live stream {request.stream} in this call"
        return None if is_known else _missing("no_such_stream", detail)
    if len(bot_forks(call)) < MAX_FORKS or fork_with(call, request.data) is not None:
        return _check_answered(call)
    return _conflict("too_many_forks", f"a call has at most {MAX_FORKS} forks")


def _check_transfer(call: Call, request: TransferRequested) -> Rejection | None:
    named = (request.source, request.customer)
    if rejection := _check_legs(call, *named) or _check_no_transfer(call) or _check_bridged(call):
        return rejection
    if call.conference is not None and sum(m.is_live for m in call.conference.members) > len(named):
        detail = f"conference {call.conference.id} is going on"
        return _conflict("conference_in_progress", detail)
    legs = call.state.legs if isinstance(call.state, Bridged) else ()
    if call.invited or {call.main, *legs} != set(named) or len(set(named)) != len(named):
        detail = "source and customer must be the two parties of the conversation, and no others"
        return _conflict("not_the_two_parties", detail)
    agent = Party.parse(request.party).agent_id or ""
    return _check_up(call, *named) or _check_not_a_party(call, request.party, agent)


def _check_member(call: Call, request: AddMemberRequested) -> Rejection | None:
    sessions = [each.id for each in call.conferences]
    if request.session and (rejection := _check_session(request.session, sessions)):
        return rejection
    if request.session and (call.conference is None or call.conference.id != request.session):
        return _conflict("conference_completed", f"conference {request.session} is over")
    return (
        _check_no_transfer(call)
        or _check_bridged(call)
        or _check_not_a_party(call, request.party, request.agent_id)
        or _check_capacity(call)
    )


def _check_not_a_party(call: Call, party: str, agent: str) -> Rejection | None:
    up = [leg for leg in call.legs if leg.state == "up"]
    if not any(leg.party == party != "" or leg.agent == agent != "" for leg in up):
        return None
    return _conflict("already_a_party", f"{party} is in this call")


def _check_kick(call: Call, session: str, leg: str) -> Rejection | None:
    conference = next((each for each in call.conferences if each.id == session), None)
    if conference is None:
        return _check_session(session, [])
    if all(each.leg != leg for each in conference.members):
        return _missing("no_such_member", f"no member {leg} in this conference")
    return None


def _check_coach(call: Call, request: CoachRequested) -> Rejection | None:
    conference = call.conference
    if conference is None or conference.id != request.session:
        sessions = [each.id for each in call.conferences]
        completed = _conflict("conference_completed", f"conference {request.session} is over")
        return _check_session(request.session, sessions) or completed
    for leg in filter(None, (request.leg, request.coached)):
        member = conference.member(leg)
        if member is None:
            return _missing("no_such_member", f"no member {leg} in this conference")
        if member.state != "connected":
            return _conflict("member_not_connected", f"member {leg} is not connected")
        if leg == request.coached and (member.coaches or leg == request.leg):
            detail = "the coached member must be another one, and not a coach"
            return _conflict("coach_of_a_coach", detail)
    if request.coached and any(each.coaches == request.leg for each in conference.members):
        return _conflict("coach_of_a_coach", "a coached member can't coach")
    return None


def _check_legs(call: Call, *legs: str) -> Rejection | None:
    unknown = [leg for leg in legs if call.leg(leg) is None]
    return _missing("no_such_leg", f"no channel {unknown[0]} in this call") if unknown else None


def _check_up(call: Call, *legs: str) -> Rejection | None:
    down = [leg for leg in legs if not call.is_up(leg)]
    return _conflict("leg_not_up", f"channel {down[0]} is not answered") if down else None


def _check_bridged(call: Call) -> Rejection | None:
    if isinstance(call.state, Bridged):
        return None
    return _conflict("not_in_conversation", "no two parties of this call are talking")


def _check_session(session: str, sessions: list[str]) -> Rejection | None:
    return None if session in sessions else _missing("no_such_session", f"no session {session}")


def _check_no_transfer(call: Call) -> Rejection | None:
    if call.transfer is None:
        return None
    return _conflict("transfer_in_progress", f"transfer {call.transfer.id} is going on")


def _check_capacity(call: Call) -> Rejection | None:
    if len(call.legs) < MAX_PARTIES:
        return None
    return _conflict("too_many_parties", f"a conversation has at most {MAX_PARTIES} parties")


def _missing(code: str, detail: str) -> Rejection:
    return Rejection("missing", code, detail)


def _conflict(code: str, detail: str) -> Rejection:
    return Rejection("conflict", code, detail)
