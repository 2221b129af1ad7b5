"""What can't be asked now of who talks with whom: transfers, conferences, coaches."""

from engine.calls.model.call import Call
from engine.calls.model.requests import (
    CoachRequested,
    KickRequested,
    MemberRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.state import Talking
from engine.calls.sessions.refusal import (
    Refusal,
    conflict,
    full,
    in_transfer,
    missing,
    no_leg,
    no_session,
    not_up,
)

WithParties = (
    TransferRequested
    | TransferCompletionRequested
    | TransferCancelRequested
    | MemberRequested
    | KickRequested
    | CoachRequested
)


def not_with_parties(call: Call, event: WithParties) -> Refusal | None:
    """Tell why it can't be asked; None when it can."""
    match event:
        case TransferRequested():
            return _no_transfer(call, event)
        case TransferCompletionRequested(session) | TransferCancelRequested(session):
            return no_session(session, [each.id for each in call.transfers])
        case MemberRequested():
            return _no_member(call, event)
        case KickRequested(session, leg):
            return _no_kick(call, session, leg)
        case CoachRequested():
            return _no_coach(call, event)


def _no_talk(call: Call) -> Refusal | None:
    if isinstance(call.doing, Talking):
        return None
    return conflict("not_in_conversation", "no two parties of this call are talking")


def _no_transfer(call: Call, asked: TransferRequested) -> Refusal | None:
    named = (asked.source, asked.customer)
    if refusal := no_leg(call, *named) or in_transfer(call) or _no_talk(call):
        return refusal
    if call.conference is not None and sum(m.is_live for m in call.conference.members) > len(named):
        return conflict("conference_in_progress", f"conference {call.conference.id} is going on")
    legs = call.doing.legs if isinstance(call.doing, Talking) else ()
    if call.invited or {call.main, *legs} != set(named) or len(set(named)) != len(named):
        detail = "source and customer must be the two parties of the conversation, and no others"
        return conflict("not_the_two_parties", detail)
    return not_up(call, *named)


def _no_member(call: Call, asked: MemberRequested) -> Refusal | None:
    sessions = [each.id for each in call.conferences]
    if asked.session and (refusal := no_session(asked.session, sessions)):
        return refusal
    if asked.session and (call.conference is None or call.conference.id != asked.session):
        return conflict("conference_completed", f"conference {asked.session} is over")
    return in_transfer(call) or _no_talk(call) or _is_party(call, asked) or full(call)


def _is_party(call: Call, asked: MemberRequested) -> Refusal | None:
    """Tell that who is to be called is in the conversation already."""
    here = [leg for leg in call.legs if leg.state == "up"]
    if not any(leg.party == asked.party or leg.agent == asked.agent_id != "" for leg in here):
        return None
    return conflict("already_a_party", f"{asked.party} is in this call")


def _no_kick(call: Call, session: str, leg: str) -> Refusal | None:
    found = [each for each in call.conferences if each.id == session]
    if not found:
        return no_session(session, [])
    if all(each.leg != leg for each in found[0].members):
        return missing("no_such_member", f"no member {leg} in this conference")
    return None


def _no_coach(call: Call, asked: CoachRequested) -> Refusal | None:
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
