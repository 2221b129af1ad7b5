"""Conference: a conversation of several, whose members are invited, put out, and coached.

init (nobody has joined yet) -> in-progress -> completed. It lives while two members are connected,
or one waits for another who is being called. (Design section 7, "Conference".)
"""

from msgspec.structs import replace

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id, update_leg
from engine.calls.model.commands import Command, Hangup
from engine.calls.model.events import (
    BridgeFailed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
)
from engine.calls.model.requests import AddMemberRequested, KickRequested
from engine.calls.model.sessions import MEMBER_MOVES, Conference, Member, MemberState
from engine.calls.model.state import Bridged
from engine.calls.reporting.call_events import emit_conference
from engine.calls.session_end import end_conference, with_conference
from engine.calls.sessions import coaching, conversation
from engine.calls.sessions.hold_music import fetch_music, next_loop
from engine.calls.sessions.leg_control import clear_invite, invite
from engine.calls.sessions.members import as_member, member_reason, update_member

MAX_KEPT = 20


def add(
    call: Call, doing: Bridged, asked: AddMemberRequested, now: int, caller_id: str = ""
) -> Step:
    """Call a party in; the first makes a conference of the conversation, where nobody moves."""
    commands: tuple[Command, ...] = ()
    if call.conference is None:
        call, commands = _made(call, doing, asked, now)
    call, leg, invitation = invite(call, asked.party, asked.ring_s, now, caller_id)
    member = Member(leg, asked.party, "queued", asked.agent_id, asked.name)
    call, told = update_member(call, member, now)
    return call, (*commands, *invitation, *told)


def _made(call: Call, doing: Bridged, asked: AddMemberRequested, now: int) -> Step:
    call, session = allocate_id(call, "f")
    call, tune, fetches = fetch_music(call, asked.music)
    present = (call.main, *doing.legs)
    members = tuple(as_member(call, leg, now) for leg in (*present, *call.invited))
    conference = Conference(session, members, now, requested_by=asked.by, hold_music=tune)
    call = replace(call, conferences=(*call.conferences[-MAX_KEPT:], conference))
    call, told = emit_conference(call, conference, now)
    return call, (told, *fetches)


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Follow members on their way in, and the snoops of coaches."""
    match event:
        case LegCreated(leg) if member := conference.member(leg):
            return _moved(call, member, "connecting", now)
        case LegRinging(leg) if member := conference.member(leg):
            return _moved(call, member, "ringing", now)
        case LegAnswered(leg) if member := conference.member(leg):
            return _connected(call, member, now) if member.state != "connected" else (call, ())
        case LegEnded(leg, cause) if member := conference.member(leg):
            return remove_member(call, member, member_reason(member, cause), now)
        case BridgeFailed(bridge, legs=legs) if not _moved_elsewhere(call, bridge, legs):
            return _unjoined(call, legs, now)
        case _:
            call, tune = next_loop(call, conference.hold_music, event)
            if tune is conference.hold_music:
                return coaching.on_event(call, conference, event, now)
            return with_conference(call, replace(conference, hold_music=tune)), ()


def _moved_elsewhere(call: Call, bridge: str, legs: tuple[str, ...]) -> bool:
    """Tell whether some could not be joined because they belong elsewhere by now."""
    here = desired_media(call)
    is_main_room = isinstance(call.state, Bridged) and call.state.bridge == bridge
    return not is_main_room or any(here.get(leg, UNBRIDGED).bridge != bridge for leg in legs)


def _unjoined(call: Call, legs: tuple[str, ...], now: int) -> Step:
    """Put out who can't be joined."""
    commands: tuple[Command, ...] = ()
    for leg in legs:
        member = call.conference.member(leg) if call.conference else None
        if member is not None:
            call, more = remove_member(call, member, "unavailable", now)
            commands = (*commands, *more, Hangup(leg, causes.NORMAL))
    return call, commands


def kick(call: Call, asked: KickRequested, now: int) -> Step:
    """Put a member out, or let it leave; the others go on."""
    conference = call.conference
    is_live = conference is not None and conference.id == asked.session
    member = conference.member(asked.leg) if conference and is_live else None
    if member is None:
        return call, ()  # it has left before
    call = update_leg(call, asked.leg, hangup_requested=True)
    call, commands = remove_member(call, member, "left" if asked.is_leave else "kicked", now)
    return call, (*commands, Hangup(asked.leg, causes.NORMAL))


def remove_member(call: Call, member: Member, reason: str, now: int) -> Step:
    """Go on without a member, who may have been the main one; end when too few are left."""
    state: MemberState = "complete" if member.state == "connected" else "failed"
    gone = replace(member, state=state, reason=reason, left_ms=now, coaches="", is_snooping=False)
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    call, told = update_member(clear_invite(call, member.leg), replace(gone, snoop=""), now)
    call, undone = coaching.end_coaching(call, member.leg, now)
    call, parted = _without(call, member.leg, now)
    return call, (*told, *hangups, *undone, *parted)


def _without(call: Call, leg: str, now: int) -> Step:
    doing, conference = call.state, call.conference
    if not isinstance(doing, Bridged) or conference is None:
        return call, ()
    live = [each for each in conference.members if each.is_live]
    connected = [each.leg for each in live if each.state == "connected"]
    if leg == call.main:
        call, doing = _promote_main_leg(call, doing, connected[0] if connected else leg)
    doing = replace(doing, legs=tuple(each for each in connected if each != call.main))
    call = replace(call, state=doing)
    is_begun = conference.state == "in-progress"
    if connected and len(live) > 1 and (is_begun or len(live) > len(connected)):
        return call, ()
    call, told = end_conference(call, conference, "too_few_members", now)
    if len(connected) > 1:
        return call, told
    call, parted = conversation.end(call, doing, "completed", causes.NORMAL, now)
    return call, (*told, *parted)


def _promote_main_leg(call: Call, doing: Bridged, heir: str) -> tuple[Call, Bridged]:
    """Make the next member the main one; the tree was the one's who has gone, and ends."""
    doing = replace(doing, verb=replace(doing.verb, action=None), awaiting=None)
    return replace(call, main=heir, continuation=()), doing


def _moved(call: Call, member: Member, state: MemberState, now: int) -> Step:
    if state not in MEMBER_MOVES[member.state]:
        return call, ()
    return update_member(call, replace(member, state=state), now)


def _connected(call: Call, member: Member, now: int) -> Step:
    call, told = update_member(call, replace(member, state="connected", joined_ms=now), now)
    conference = call.conference
    if conference is None or conference.state == "in-progress":
        return call, told
    begun = replace(conference, state="in-progress")
    call, more = emit_conference(with_conference(call, begun), begun, now)
    return call, (*told, more)
