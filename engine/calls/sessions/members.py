"""Members of a conference: how they are made, changed and told, and why they are not there."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step
from engine.calls.model.sessions import Member, MemberState
from engine.calls.reporting.call_events import emit_member
from engine.calls.session_end import with_conference

MAX_LEFT_MEMBERS = 20


def as_member(call: Call, leg_id: str, now: int) -> Member:
    """Make a member of who is there, or has been called in before."""
    leg = call.leg(leg_id)
    if leg is None or leg.state == "up":
        party, agent = (leg.party, leg.agent) if leg else ("", "")
        return Member(leg_id, party, "connected", agent, joined_ms=now)
    states: dict[str, MemberState] = {"requested": "queued", "created": "connecting"}
    return Member(leg_id, leg.party, states.get(leg.state, "ringing"), leg.agent)


def member_reason(member: Member, cause: int) -> str:
    """Say why a member is not there."""
    if member.state == "connected":
        return "hangup"
    reasons = {
        causes.BUSY: "busy",
        causes.NO_ANSWER: "no_answer",
        causes.NO_USER_RESPONSE: "no_answer",
        causes.REJECTED: "rejected",
    }
    return reasons.get(cause, "unavailable")


def _bounded(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Forget who left long ago: a conference may go on for days."""
    gone = sorted((each.left_ms, each.leg) for each in members if not each.is_live)
    forgotten = {leg for _, leg in gone[:-MAX_LEFT_MEMBERS]}
    return tuple(each for each in members if each.leg not in forgotten)


def update_member(call: Call, member: Member, now: int, *, told: bool = True) -> Step:
    """Put a member in, in place of what it was or as the last, and tell its state."""
    conference = call.conference
    if conference is None:
        return call, ()
    members = tuple(member if each.leg == member.leg else each for each in conference.members)
    if member not in members:
        members = (*members, member)
    conference = replace(conference, members=_bounded(members))
    call = with_conference(call, conference)
    if not told:
        return call, ()
    call, tell = emit_member(call, conference, member, now)
    return call, (tell,)
