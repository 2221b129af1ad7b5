"""Conference: a conversation of several, whose members are invited, put out, and coached.

init (nobody has joined yet) -> in-progress -> completed. It lives while two members are connected,
or one waits for another who is being called. (Design section 7, "Conference".)
"""

from msgspec.structs import replace

from engine.calls import causes
from engine.calls.call import Call, Step, changed_leg, numbered
from engine.calls.closing import end_conference, with_conference
from engine.calls.commands import Command, Hangup, Snoop
from engine.calls.control import invite, uninvited
from engine.calls.doing import Talking
from engine.calls.events import (
    CoachRequested,
    Event,
    KickRequested,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
    MemberRequested,
)
from engine.calls.sessions import Conference, Member, MemberState
from engine.calls.telling import tell_conference, tell_member
from engine.calls.tune import next_round, wished
from engine.calls.verbs import talk

MOST_KEPT = 20


def add(call: Call, doing: Talking, asked: MemberRequested, now: int) -> Step:
    """Call a party in; the first makes a conference of the conversation, where nobody moves."""
    commands: tuple[Command, ...] = ()
    if call.conference is None:
        call, commands = _made(call, doing, asked, now)
    call, leg, invitation = invite(call, asked.party, asked.ring_s, now)
    member = Member(leg, asked.party, "queued", asked.agent_id, asked.name)
    call, told = _changed(call, member, now)
    return call, (*commands, *invitation, *told)


def _made(call: Call, doing: Talking, asked: MemberRequested, now: int) -> Step:
    call, session = numbered(call, "f")
    call, tune, fetches = wished(call, asked.music)
    present = (call.main, *doing.legs)
    members = tuple(_here(call, leg, now) for leg in (*present, *call.invited))
    conference = Conference(session, members, now, requested_by=asked.by, tune=tune)
    call = replace(call, conferences=(*call.conferences[-MOST_KEPT:], conference))
    call, told = tell_conference(call, conference, now)
    return call, (told, *fetches)


def _here(call: Call, leg_id: str, now: int) -> Member:
    """Make a member of who is there, or has been called in before."""
    leg = call.leg(leg_id)
    if leg is None or leg.state == "up":
        party, agent = (leg.party, leg.agent) if leg else ("", "")
        return Member(leg_id, party, "connected", agent, joined_ms=now)
    states: dict[str, MemberState] = {"requested": "queued", "placed": "connecting"}
    return Member(leg_id, leg.party, states.get(leg.state, "ringing"), leg.agent)


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Follow members on their way in, and the snoops of coaches."""
    match event:
        case LegPlaced(leg) if coach := _coach_on(conference, leg):
            return _changed(call, replace(coach, is_snooping=True), now, told=False)
        case LegEnded(leg) if coach := _coach_on(conference, leg):
            return _uncoached(call, coach, now)
        case LegPlaced(leg) if member := conference.member(leg):
            return _moved(call, member, "connecting", now)
        case LegRang(leg) if member := conference.member(leg):
            return _moved(call, member, "ringing", now)
        case LegAnswered(leg) if member := conference.member(leg):
            return _connected(call, member, now) if member.state != "connected" else (call, ())
        case LegEnded(leg, cause) if member := conference.member(leg):
            return left(call, member, member_reason(member, cause), now)
        case _:
            call, tune = next_round(call, conference.tune, event)
            if tune is conference.tune:
                return call, ()
            return with_conference(call, replace(conference, tune=tune)), ()


def put_out(call: Call, asked: KickRequested, now: int) -> Step:
    """Put a member out, or let it leave; the others go on."""
    member = call.conference.member(asked.leg) if call.conference else None
    if member is None:
        return call, ()
    call, commands = left(call, member, "left" if asked.is_leave else "kicked", now)
    return call, (*commands, Hangup(asked.leg, causes.NORMAL))


def coach(call: Call, asked: CoachRequested, now: int) -> Step:
    """Let a member be heard by one other alone, or by all again."""
    member = call.conference.member(asked.leg) if call.conference else None
    if member is None or member.coaches == asked.coached:
        return call, ()
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    member = replace(member, coaches=asked.coached, snoop="", is_snooping=False)
    if not asked.coached:
        call, commands = _changed(call, member, now, told=False)
        return call, (*commands, *hangups)
    call, snoop = numbered(call, "s")
    call, commands = _changed(call, replace(member, snoop=snoop), now, told=False)
    return call, (*commands, *hangups, Snoop(snoop, asked.coached))


def left(call: Call, member: Member, reason: str, now: int) -> Step:
    """Go on without a member, who may have been the main one; end when too few are left."""
    state: MemberState = "complete" if member.state == "connected" else "failed"
    gone = replace(member, state=state, reason=reason, left_ms=now, coaches="", is_snooping=False)
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    call, told = _changed(uninvited(call, member.leg), replace(gone, snoop=""), now)
    call, undone = _uncoached_of(call, member.leg, now)
    call, parted = _without(call, member.leg, now)
    return call, (*told, *hangups, *undone, *parted)


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


def _without(call: Call, leg: str, now: int) -> Step:
    doing, conference = call.doing, call.conference
    if not isinstance(doing, Talking) or conference is None:
        return call, ()
    live = [each for each in conference.members if each.is_live]
    connected = [each.leg for each in live if each.state == "connected"]
    if not connected:
        return call, ()  # the main leg was the last: its call ends
    call = _succeeded(call, doing, connected) if leg == call.main else call
    call = _reseated(call, connected)
    if len(live) > 1 and (conference.state == "in-progress" or len(live) > len(connected)):
        return call, ()
    call, told = end_conference(call, conference, "too_few_members", now)
    if len(connected) > 1 or not isinstance(call.doing, Talking):
        return call, told
    call, parted = talk.part(call, call.doing, "completed", causes.NORMAL, now)
    return call, (*told, *parted)


def _succeeded(call: Call, doing: Talking, connected: list[str]) -> Call:
    """Make the next member the main one; the tree was the one's who has gone, and ends."""
    verb = replace(doing.verb, action=None)
    talking = replace(doing, verb=verb, asking=None)
    return replace(call, main=connected[0], rest=(), doing=talking)


def _reseated(call: Call, connected: list[str]) -> Call:
    assert isinstance(call.doing, Talking)  # noqa: S101 - narrows for mypy; its callers looked
    others = tuple(leg for leg in connected if leg != call.main)
    return replace(call, doing=replace(call.doing, legs=others))


def _moved(call: Call, member: Member, state: MemberState, now: int) -> Step:
    if member.state in {state, "connected"}:
        return call, ()
    return _changed(call, replace(member, state=state), now)


def _connected(call: Call, member: Member, now: int) -> Step:
    call, told = _changed(call, replace(member, state="connected", joined_ms=now), now)
    conference = call.conference
    if conference is None or conference.state == "in-progress":
        return call, told
    begun = replace(conference, state="in-progress")
    call, more = tell_conference(with_conference(call, begun), begun, now)
    return call, (*told, more)


def _coach_on(conference: Conference, snoop: str) -> Member | None:
    return next((each for each in conference.members if snoop and each.snoop == snoop), None)


def _uncoached_of(call: Call, leg: str, now: int) -> Step:
    members = call.conference.members if call.conference else ()
    coaches = [each for each in members if each.coaches == leg]
    for each in coaches:
        call, _ = _uncoached(call, each, now)
    return call, tuple(Hangup(each.snoop, causes.NORMAL) for each in coaches)


def _uncoached(call: Call, member: Member, now: int) -> Step:
    """End a coaching whose other side has gone: nobody is to hear the coach by accident."""
    free = replace(member, coaches="", snoop="", is_snooping=False)
    return _changed(changed_leg(call, member.leg, muted="in"), free, now, told=False)


def _changed(call: Call, member: Member, now: int, *, told: bool = True) -> Step:
    conference = call.conference
    if conference is None:
        return call, ()
    members = tuple(member if each.leg == member.leg else each for each in conference.members)
    if member not in members:
        members = (*members, member)
    conference = replace(conference, members=members)
    call = with_conference(call, conference)
    if not told:
        return call, ()
    call, tell = tell_member(call, conference, member, now)
    return call, (tell,)
