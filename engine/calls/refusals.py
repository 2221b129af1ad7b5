"""What a live call can't be asked to do now, and why: told to who asks, before anything happens."""

from typing import Literal

from msgspec import Struct

from engine.calls.asked import (
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
    TransferRequested,
)
from engine.calls.call import Call
from engine.calls.doing import (
    Detecting,
    Dialing,
    Ending,
    Filing,
    Over,
    Recording,
    Starting,
    Talking,
)

WithParties = (
    TransferRequested
    | TransferCompletionRequested
    | TransferCancelRequested
    | MemberRequested
    | KickRequested
    | CoachRequested
)
MOST_PARTIES = 32  # in one conversation, those who are being called among them


class Refusal(Struct, frozen=True):
    """Why a request can't be done: `missing` what it names, a `conflict` with what goes on."""

    kind: Literal["missing", "conflict"]
    code: str
    detail: str


def refused(call: Call, event: Control) -> Refusal | None:
    """Tell why a request can't be done; None when it can, or when it holds already."""
    if isinstance(call.doing, (Ending, Filing, Over)):
        return _conflict("call_ended", f"call {call.id} has ended")
    match event:
        case LegHangupRequested(leg):
            return _no_leg(call, leg)
        case MuteRequested(leg) | HoldRequested(leg):
            return _no_leg(call, leg) or _not_up(call, leg) or _unconnected(call, event)
        case DialRequested():
            return _no_dial(call)
        case RecordingRequested(wanted):
            return _no_recording(call, wanted)
        case _:
            return _not_with_parties(call, event)


def _not_with_parties(call: Call, event: WithParties) -> Refusal | None:
    match event:
        case TransferRequested():
            return _no_transfer(call, event)
        case TransferCompletionRequested(session) | TransferCancelRequested(session):
            return _no_session(session, [each.id for each in call.transfers])
        case MemberRequested():
            return _no_member(call, event)
        case KickRequested(session, leg):
            return _no_kick(call, session, leg)
        case CoachRequested():
            return _no_coach(call, event)


def _missing(code: str, detail: str) -> Refusal:
    return Refusal("missing", code, detail)


def _conflict(code: str, detail: str) -> Refusal:
    return Refusal("conflict", code, detail)


def _no_leg(call: Call, *legs: str) -> Refusal | None:
    lacking = [leg for leg in legs if call.leg(leg) is None]
    return _missing("no_such_leg", f"no channel {lacking[0]} in this call") if lacking else None


def _not_up(call: Call, *legs: str) -> Refusal | None:
    down = [leg for leg in legs if not call.is_up(leg)]
    return _conflict("leg_not_up", f"channel {down[0]} is not answered") if down else None


def _unconnected(call: Call, event: Control) -> Refusal | None:
    if isinstance(event, HoldRequested) and isinstance(call.doing, Recording) and event.held:
        return _conflict("message_being_left", "a message is being recorded")
    greetings = call.doing.greetings if isinstance(call.doing, Dialing) else ()
    if not isinstance(event, HoldRequested) or event.leg not in {each.leg for each in greetings}:
        return None
    return _conflict("not_connected", f"channel {event.leg} is not connected yet")


def _no_session(session: str, known: list[str]) -> Refusal | None:
    return None if session in known else _missing("no_such_session", f"no session {session}")


def _no_dial(call: Call) -> Refusal | None:
    if isinstance(call.doing, (Starting, Detecting)):
        return _conflict("not_answered", "the call is not answered yet")
    return _in_transfer(call) or _full(call)


def _in_transfer(call: Call) -> Refusal | None:
    if call.transfer is None:
        return None
    return _conflict("transfer_in_progress", f"transfer {call.transfer.id} is going on")


def _full(call: Call) -> Refusal | None:
    if len(call.legs) < MOST_PARTIES:
        return None
    return _conflict("too_many_parties", f"a conversation has at most {MOST_PARTIES} parties")


def _no_talk(call: Call) -> Refusal | None:
    if isinstance(call.doing, Talking):
        return None
    return _conflict("not_in_conversation", "no two parties of this call are talking")


def _no_transfer(call: Call, asked: TransferRequested) -> Refusal | None:
    named = (asked.source, asked.customer)
    if refusal := _no_leg(call, *named) or _in_transfer(call) or _no_talk(call):
        return refusal
    if call.conference is not None and sum(m.is_live for m in call.conference.members) > len(named):
        return _conflict("conference_in_progress", f"conference {call.conference.id} is going on")
    legs = call.doing.legs if isinstance(call.doing, Talking) else ()
    if call.invited or {call.main, *legs} != set(named) or len(set(named)) != len(named):
        detail = "source and customer must be the two parties of the conversation, and no others"
        return _conflict("not_the_two_parties", detail)
    return _not_up(call, *named)


def _no_member(call: Call, asked: MemberRequested) -> Refusal | None:
    sessions = [each.id for each in call.conferences]
    if asked.session and (refusal := _no_session(asked.session, sessions)):
        return refusal
    if asked.session and (call.conference is None or call.conference.id != asked.session):
        return _conflict("conference_completed", f"conference {asked.session} is over")
    return _in_transfer(call) or _no_talk(call) or _is_party(call, asked) or _full(call)


def _is_party(call: Call, asked: MemberRequested) -> Refusal | None:
    """Tell that who is to be called is in the conversation already."""
    here = [leg for leg in call.legs if leg.state == "up"]
    if not any(leg.party == asked.party or leg.agent == asked.agent_id != "" for leg in here):
        return None
    return _conflict("already_a_party", f"{asked.party} is in this call")


def _no_kick(call: Call, session: str, leg: str) -> Refusal | None:
    found = [each for each in call.conferences if each.id == session]
    if not found:
        return _no_session(session, [])
    if all(each.leg != leg for each in found[0].members):
        return _missing("no_such_member", f"no member {leg} in this conference")
    return None


def _no_recording(call: Call, wanted: str) -> Refusal | None:
    if call.archive is None:
        return _conflict("no_archive", "recordings can't be kept: see recordings_url, ami_password")
    was_recorded = any(tape.purpose == "call" for tape in call.tapes)
    if wanted == "start" or call.recorded or (wanted == "stop" and was_recorded):
        return None
    return _conflict("not_recorded", f"call {call.id} is not being recorded")


def _no_coach(call: Call, asked: CoachRequested) -> Refusal | None:
    conference = call.conference
    if conference is None or conference.id != asked.session:
        known = [each.id for each in call.conferences]
        over = _conflict("conference_completed", f"conference {asked.session} is over")
        return _no_session(asked.session, known) or over
    for leg in filter(None, (asked.leg, asked.coached)):
        member = conference.member(leg)
        if member is None:
            return _missing("no_such_member", f"no member {leg} in this conference")
        if member.state != "connected":
            return _conflict("member_not_connected", f"member {leg} is not connected")
        if leg == asked.coached and (member.coaches or leg == asked.leg):
            return _conflict("coach_of_a_coach", "who is coached must be another, and no coach")
    if asked.coached and any(each.coaches == asked.leg for each in conference.members):
        return _conflict("coach_of_a_coach", "who is coached can't coach")
    return None
