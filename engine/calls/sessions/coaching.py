"""Coaching: only one other member hears the coach, through a snoop on that member's leg."""

from msgspec.structs import replace

from engine.calls.hold_and_mute import set_mute
from engine.calls.media.plan import coach_bridge, desired_media, has_other_legs
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.call_states import Bridged
from engine.calls.model.commands import Command, Hangup, RemoveFromBridge, Snoop
from engine.calls.model.events import BridgeFailed, Event, LegCreated, LegEnded
from engine.calls.model.leg import combine_mutes
from engine.calls.model.requests import CoachRequested
from engine.calls.model.sessions import Conference, Member
from engine.calls.sessions.conference_member_state import update_member


def coach(call: Call, request: CoachRequested, now: int) -> Step:
    """Let only one other member hear this member, or all members again."""
    member = call.conference.member(request.leg) if call.conference else None
    if member is None or member.coaches == request.coached:
        return call, ()
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    member = replace(member, coaches=request.coached, snoop="", is_snooping=False)
    if not request.coached:
        call, commands = update_member(call, member, now, notify=False)
        return call, (*commands, *hangups)
    call, commands = _start_snoop(call, member, now)
    return call, (*commands[:-1], *hangups, commands[-1])


def renew_snoops(before: Call, call: Call, now: int) -> Step:
    """Replace the snoops of coaches who return from the main bridge, where they were heard alone.

    An old snoop may carry no audio any more (docs/asterisk.md).
    """
    commands: tuple[Command, ...] = ()
    for each in call.conference.members if call.conference else ():
        if each.is_snooping and _is_apart(call, each) and _was_together(before, each):
            call, more = _start_snoop(call, each, now)
            commands = (*commands, *more, Hangup(each.snoop, causes.NORMAL))
    return call, commands


def _was_together(before: Call, coach: Member) -> bool:
    """Return whether a coach was in the main bridge, with the coached leg alone."""
    was = before.conference.member(coach.leg) if before.conference else None
    is_same = was is not None and was.is_snooping and was.snoop == coach.snoop
    return is_same and not _is_apart(before, coach)


def _is_apart(call: Call, coach: Member) -> bool:
    return call.conference is not None and has_other_legs(call, call.conference, coach)


def _start_snoop(call: Call, member: Member, now: int) -> Step:
    call, snoop = allocate_id(call, "s")
    member = replace(member, snoop=snoop, is_snooping=False)
    call, commands = update_member(call, member, now, notify=False)
    return call, (*commands, Snoop(snoop, member.coaches))


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Track the snoops; one that ends, or can't be bridged with its coach, ends the coaching."""
    coaches = [each for each in conference.members if each.snoop]
    for each in coaches:
        match event:
            case LegCreated(each.snoop):
                return update_member(call, replace(each, is_snooping=True), now, notify=False)
            case LegEnded(each.snoop):
                return _remove_coaching(call, each, now)
            case BridgeFailed(bridge) if bridge == coach_bridge(each.snoop):
                call, commands = _remove_coaching(call, each, now)
                return call, (*commands, Hangup(each.snoop, causes.NORMAL))
    return call, _remove_stray_coaches(call, event)


def _remove_stray_coaches(call: Call, event: Event) -> tuple[RemoveFromBridge, ...]:
    """Remove from the main bridge coaches who could not join their snoop and now need no bridge."""
    if not isinstance(event, BridgeFailed) or not isinstance(call.state, Bridged):
        return ()
    bridge, media = call.state.bridge, desired_media(call)
    strays = (leg for leg in event.legs if leg in media and not media[leg].bridge)
    return tuple(RemoveFromBridge(bridge, leg) for leg in strays) if event.bridge != bridge else ()


def end_coaching(call: Call, coached: str, now: int) -> Step:
    """End all coaching of a leg that leaves."""
    commands: tuple[Command, ...] = ()
    for each in call.conference.members if call.conference else ():
        if each.coaches == coached:
            call, more = _remove_coaching(call, each, now)
            commands = (*commands, *more, Hangup(each.snoop, causes.NORMAL))
    return call, commands


def _remove_coaching(call: Call, member: Member, now: int) -> Step:
    """Reset a coach and mute it, so that the others do not hear it by accident."""
    member = replace(member, coaches="", snoop="", is_snooping=False)
    call, _ = update_member(call, member, now, notify=False)
    return set_mute(call, member.leg, combine_mutes(call.muted(member.leg), "in"), now)
