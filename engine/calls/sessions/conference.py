"""Conference: a conversation of several members, who are invited, kicked and coached.

init (no invited member has joined) -> in-progress -> completed. It lasts while two members are
connected, or one waits for another that is being called.
"""

from msgspec.structs import replace

from engine.calls.media.plan import UNBRIDGED, desired_media
from engine.calls.model import causes
from engine.calls.model.call import (
    Call,
    Step,
    allocate_id,
    update_leg,
    with_conference,
    with_named_agent,
)
from engine.calls.model.call_states import Bridged
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
from engine.calls.model.sessions import (
    MEMBER_MOVES,
    Conference,
    Member,
    MemberReason,
    MemberState,
)
from engine.calls.reporting.call_events import emit_conference
from engine.calls.sessions import coaching
from engine.calls.sessions.conference_member_state import as_member, member_reason, update_member
from engine.calls.sessions.custom_hold_music import fetch_music, next_loop
from engine.calls.sessions.invites import clear_invite, invite
from engine.calls.transfer_and_conference_end import end_conference
from engine.calls.verbs import conversation
from engine.calls.verbs.stream_report import report_suspended

MAX_KEPT_CONFERENCES = 20


def add_member(
    call: Call, state: Bridged, request: AddMemberRequested, now: int, caller_id: str = ""
) -> Step:
    """Invite a party; the first invitation turns the conversation into a conference."""
    commands: tuple[Command, ...] = ()
    call = with_named_agent(call, request.source, request.source_agent)
    if call.conference is None:
        call, commands = _create(call, state, request, now)
    else:
        call = _name_source(call, call.conference, request)
        call, commands = _replace_music(call, request)
    call, leg, invitation = invite(call, request.party, request.ring_s, now, caller_id)
    member = Member(leg, request.party, "queued", request.agent_id, request.name)
    call, events = update_member(call, member, now)
    if call.conference is not None and request.music is not None:
        waiting = replace(call.conference, customer=request.customer, awaited=leg)
        call = with_conference(call, waiting)
    return call, (*commands, *invitation, *events)


def _name_source(call: Call, conference: Conference, request: AddMemberRequested) -> Call:
    """Give the source's member the agent that the request names."""
    member = conference.member(request.source)
    if member is None or member.agent_id or not request.source_agent:
        return call
    named = replace(member, agent_id=request.source_agent)
    members = tuple(named if each is member else each for each in conference.members)
    return with_conference(call, replace(conference, members=members))


def _replace_music(call: Call, request: AddMemberRequested) -> Step:
    conference = call.conference
    if conference is None or request.music is None:
        return call, ()
    call, music, fetches = fetch_music(call, request.music)
    return with_conference(call, replace(conference, hold_music=music)), fetches


def _create(call: Call, state: Bridged, request: AddMemberRequested, now: int) -> Step:
    call, session = allocate_id(call, "f")
    call, music, fetches = fetch_music(call, request.music)
    present = (call.main, *state.legs)
    members = tuple(as_member(call, leg, now) for leg in (*present, *call.invited))
    conference = Conference(session, members, now, requested_by=request.by, hold_music=music)
    kept = (*call.conferences, conference)[-MAX_KEPT_CONFERENCES:]
    # The time limit of the dial was set for a conversation of two.
    unlimited = replace(state, deadline_ms=call.must_end_ms)
    call = replace(call, conferences=kept, state=unlimited)
    call, event = emit_conference(call, conference, now)
    return call, (event, *fetches)


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Track invited and connected members, and the snoops of coaches."""
    match event:
        case LegCreated(leg) if member := conference.member(leg):
            return _enter_state(call, member, "connecting", now)
        case LegRinging(leg) if member := conference.member(leg):
            return _enter_state(call, member, "ringing", now)
        case LegAnswered(leg) if member := conference.member(leg):
            return _connect(call, member, now) if member.state != "connected" else (call, ())
        case LegEnded(leg, cause) if member := conference.member(leg):
            return remove_member(call, member, member_reason(member, cause), now)
        case BridgeFailed(bridge, legs=(leg,)) if not _moved_elsewhere(call, bridge, leg):
            return _remove_unbridged(call, leg, now)
        case _:
            call, music, reports = next_loop(call, conference.hold_music, event, now)
            if reports:
                return call, reports
            if music is conference.hold_music:
                return coaching.on_event(call, conference, event, now)
            return with_conference(call, replace(conference, hold_music=music)), ()


def _moved_elsewhere(call: Call, bridge: str, leg: str) -> bool:
    """Return whether a leg could not be bridged because it now belongs elsewhere."""
    is_main_bridge = isinstance(call.state, Bridged) and call.state.bridge == bridge
    return not is_main_bridge or desired_media(call).get(leg, UNBRIDGED).bridge != bridge


def _remove_unbridged(call: Call, leg: str, now: int) -> Step:
    """Remove a member who can't be bridged."""
    member = call.conference.member(leg) if call.conference else None
    if member is None:
        return call, ()
    call, commands = remove_member(call, member, "unavailable", now)
    return call, (*commands, Hangup(leg, causes.NORMAL))


def kick(call: Call, request: KickRequested, now: int) -> Step:
    """Remove a member, by a kick or its own request; the others continue."""
    conference = call.conference
    is_live = conference is not None and conference.id == request.session
    member = conference.member(request.leg) if conference and is_live else None
    if member is None:
        return call, ()  # it has already left
    if request.is_leave:
        call = with_named_agent(call, request.leg, request.by)
    call = update_leg(call, request.leg, hangup_requested=True)
    member = replace(member, removed_by=request.by)
    call, commands = remove_member(call, member, "left" if request.is_leave else "kicked", now)
    return call, (*commands, Hangup(request.leg, causes.NORMAL))


def remove_member(call: Call, member: Member, reason: MemberReason, now: int) -> Step:
    """Remove a member, also the main leg; end the conference if too few are left."""
    state: MemberState = "complete" if member.state == "connected" else "failed"
    left = replace(member, state=state, reason=reason, left_ms=now, coaches="", is_snooping=False)
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    call, events = update_member(clear_invite(call, member.leg), replace(left, snoop=""), now)
    call, ended_coaching = coaching.end_coaching(call, member.leg, now)
    call, more = _drop_leg(call, member.leg, now)
    return call, (*events, *hangups, *ended_coaching, *more)


def _drop_leg(call: Call, leg: str, now: int) -> Step:
    state, conference = call.state, call.conference
    if not isinstance(state, Bridged) or conference is None:
        return call, ()
    live = [each for each in conference.members if each.is_live]
    connected = [each.leg for each in live if each.state == "connected"]
    reports: tuple[Command, ...] = ()
    if leg == call.main:
        call, reports = report_suspended(call, now)
        call, state = _promote_main_leg(call, state, connected[0] if connected else leg)
    state = replace(state, legs=tuple(each for each in connected if each != call.main))
    call = replace(call, state=state)
    in_progress = conference.state == "in-progress"
    if connected and len(live) > 1 and (in_progress or len(live) > len(connected)):
        return call, reports
    call, events = end_conference(call, conference, "too_few_members", now)
    events = (*reports, *events)
    if len(connected) > 1:
        return call, events
    call, more = conversation.end(call, state, "completed", causes.NORMAL, now)
    return call, (*events, *more)


def _promote_main_leg(call: Call, state: Bridged, leg: str) -> tuple[Call, Bridged]:
    """Make another member's leg the main leg; the tree ends with the old main leg."""
    state = replace(state, verb=replace(state.verb, action=None), awaiting=None)
    return replace(call, main=leg, continuation=()), state


def _enter_state(call: Call, member: Member, state: MemberState, now: int) -> Step:
    if state not in MEMBER_MOVES[member.state]:
        return call, ()
    return update_member(call, replace(member, state=state), now)


def _connect(call: Call, member: Member, now: int) -> Step:
    call, events = update_member(call, replace(member, state="connected", joined_ms=now), now)
    conference = call.conference
    if conference is None or conference.state == "in-progress":
        return call, events
    started = replace(conference, state="in-progress")
    call, event = emit_conference(with_conference(call, started), started, now)
    return call, (*events, event)
