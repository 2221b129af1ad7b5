"""Coaching: a member of a conference is heard by one other alone, by a snoop on that one's leg."""

from msgspec.structs import replace

from engine.calls.media.plan import coach_bridge, desired_media
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, allocate_id
from engine.calls.model.commands import Command, Hangup, RemoveFromBridge, Snoop
from engine.calls.model.events import BridgeFailed, Event, LegCreated, LegEnded
from engine.calls.model.leg import combine_mutes
from engine.calls.model.requests import CoachRequested
from engine.calls.model.sessions import Conference, Member
from engine.calls.model.state import Bridged
from engine.calls.session_end import set_mute
from engine.calls.sessions.members import update_member


def coach(call: Call, asked: CoachRequested, now: int) -> Step:
    """Let a member be heard by one other alone, or by all again."""
    member = call.conference.member(asked.leg) if call.conference else None
    if member is None or member.coaches == asked.coached:
        return call, ()
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    member = replace(member, coaches=asked.coached, snoop="", is_snooping=False)
    if not asked.coached:
        call, commands = update_member(call, member, now, told=False)
        return call, (*commands, *hangups)
    call, snoop = allocate_id(call, "s")
    call, commands = update_member(call, replace(member, snoop=snoop), now, told=False)
    return call, (*commands, *hangups, Snoop(snoop, asked.coached))


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Follow the snoops; one that is gone, or can't meet its coach, ends the coaching."""
    coaches = [each for each in conference.members if each.snoop]
    for each in coaches:
        match event:
            case LegCreated(each.snoop):
                return update_member(call, replace(each, is_snooping=True), now, told=False)
            case LegEnded(each.snoop):
                return _remove_coaching(call, each, now)
            case BridgeFailed(bridge) if bridge == coach_bridge(each.snoop):
                call, commands = _remove_coaching(call, each, now)
                return call, (*commands, Hangup(each.snoop, causes.NORMAL))
    return call, _remove_stray_coaches(call, event)


def _remove_stray_coaches(call: Call, event: Event) -> tuple[RemoveFromBridge, ...]:
    """Take a coach out who did not get to its snoop, and by now is to be in no bridge."""
    if not isinstance(event, BridgeFailed) or not isinstance(call.state, Bridged):
        return ()
    room, outside = call.state.bridge, desired_media(call)
    late = (leg for leg in event.legs if leg in outside and not outside[leg].bridge)
    return tuple(RemoveFromBridge(room, leg) for leg in late) if event.bridge != room else ()


def end_coaching(call: Call, coached: str, now: int) -> Step:
    """End the coaching of a leg that leaves."""
    commands: tuple[Command, ...] = ()
    for each in call.conference.members if call.conference else ():
        if each.coaches == coached:
            call, told = _remove_coaching(call, each, now)
            commands = (*commands, *told, Hangup(each.snoop, causes.NORMAL))
    return call, commands


def _remove_coaching(call: Call, member: Member, now: int) -> Step:
    """Silence a coach whose other side has gone: nobody is to hear it by accident."""
    free = replace(member, coaches="", snoop="", is_snooping=False)
    call, _ = update_member(call, free, now, told=False)
    return set_mute(call, member.leg, combine_mutes(call.muted(member.leg), "in"), now)
