"""Coaching: only one other member hears the coach, through a snoop on that member's leg."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.calls.hold_and_mute import set_mute
from engine.calls.media.plan import coach_bridge, desired_media, is_apart
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
    call, commands = update_member(call, member, now, notify=False)
    return call, (*commands, *hangups)


def snooped_legs(call: Call) -> set[str]:
    """Return the coached legs that have a snoop, or are getting one."""
    return {each.coaches for each in _members(call) if each.snoop}


def waiting_coaches(call: Call) -> set[str]:
    """Return the coaches whose snoop does not exist yet."""
    return {each.leg for each in _members(call) if not each.is_snooping and is_apart(call, each)}


def start_snoops(call: Call, now: int) -> Step:
    """Start a snoop for each coach who needs one and has none."""
    commands: tuple[Command, ...] = ()
    for each in _members(call):
        if not each.snoop and is_apart(call, each):
            call, snoop = allocate_id(call, "s")
            call, _ = update_member(call, replace(each, snoop=snoop), now, notify=False)
            commands = (*commands, Snoop(snoop, each.coaches))
    return call, commands


def end_needless_snoops(call: Call, now: int) -> Step:
    """Hang up the snoops of coaches who are alone with the coached leg: they share its bridge."""
    return _end_snoops(call, lambda each: not is_apart(call, each), now)


def end_snoops(call: Call, coached: str, now: int) -> Step:
    """Hang up the snoops on a leg; its coaches get new ones if they need any."""
    return _end_snoops(call, lambda each: each.coaches == coached, now)


def _end_snoops(call: Call, is_ended: Callable[[Member], bool], now: int) -> Step:
    ended = [each for each in _members(call) if each.snoop and is_ended(each)]
    for each in ended:
        member = replace(each, snoop="", is_snooping=False)
        call, _ = update_member(call, member, now, notify=False)
    return call, tuple(Hangup(each.snoop, causes.NORMAL) for each in ended)


def _members(call: Call) -> tuple[Member, ...]:
    return call.conference.members if call.conference else ()


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Track the snoops; one that ends, or can't be bridged with its coach, ends the coaching."""
    for each in (each for each in conference.members if each.snoop):
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
    call, hangups = end_snoops(call, coached, now)
    commands: tuple[Command, ...] = ()
    for each in _members(call):
        if each.coaches == coached:
            call, more = _remove_coaching(call, each, now)
            commands = (*commands, *more)
    return call, (*commands, *hangups)


def _remove_coaching(call: Call, member: Member, now: int) -> Step:
    """Reset a coach and mute it, so that the others do not hear it by accident."""
    member = replace(member, coaches="", snoop="", is_snooping=False)
    call, _ = update_member(call, member, now, notify=False)
    return set_mute(call, member.leg, combine_mutes(call.muted(member.leg), "in"), now)
