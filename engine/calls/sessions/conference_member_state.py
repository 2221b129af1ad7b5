"""Members of a conference: creation, changes, and reasons for leaving."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, with_conference
from engine.calls.model.sessions import Member, MemberReason, MemberState
from engine.calls.reporting.call_events import emit_member

MAX_LEFT_MEMBERS = 20


def as_member(call: Call, leg_id: str, now: int) -> Member:
    """Return a member for a connected or already invited leg."""
    leg = call.leg(leg_id)
    if leg is None or leg.state == "up":
        party, agent = (leg.party, leg.agent) if leg else ("", "")
        return Member(leg_id, party, "connected", agent, joined_ms=now)
    states: dict[str, MemberState] = {"requested": "queued", "created": "connecting"}
    return Member(leg_id, leg.party, states.get(leg.state, "ringing"), leg.agent)


def member_reason(member: Member, cause: int) -> MemberReason:
    """Return why a member has left or could not join."""
    return "hangup" if member.state == "connected" else causes.unreached_reason(cause)


def _bounded(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Drop the members that left first: a conference may last for days."""
    left = sorted((each.left_ms, each.leg) for each in members if not each.is_live)
    dropped = {leg for _, leg in left[:-MAX_LEFT_MEMBERS]}
    return tuple(each for each in members if each.leg not in dropped)


def update_member(call: Call, member: Member, now: int, *, notify: bool = True) -> Step:
    """Replace or append a member, and emit its state unless `notify` is false."""
    conference = call.conference
    if conference is None:
        return call, ()
    members = tuple(member if each.leg == member.leg else each for each in conference.members)
    if member not in members:
        members = (*members, member)
    conference = replace(conference, members=_bounded(members))
    call = with_conference(call, conference)
    if not notify:
        return call, ()
    call, event = emit_member(call, conference, member, now)
    return call, (event,)
