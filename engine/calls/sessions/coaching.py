"""Coaching: a member of a conference is heard by one other alone, by a snoop on that one's leg."""

from msgspec.structs import replace

from engine.calls.media.plan import coach_room, seats
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, numbered
from engine.calls.model.commands import Command, Hangup, Leave, Snoop
from engine.calls.model.events import BridgeFailed, Event, LegEnded, LegPlaced
from engine.calls.model.leg import muted_too
from engine.calls.model.requests import CoachRequested
from engine.calls.model.sessions import Conference, Member
from engine.calls.model.state import Talking
from engine.calls.session_end import mute
from engine.calls.sessions.members import changed


def coach(call: Call, asked: CoachRequested, now: int) -> Step:
    """Let a member be heard by one other alone, or by all again."""
    member = call.conference.member(asked.leg) if call.conference else None
    if member is None or member.coaches == asked.coached:
        return call, ()
    hangups = (Hangup(member.snoop, causes.NORMAL),) if member.snoop else ()
    member = replace(member, coaches=asked.coached, snoop="", is_snooping=False)
    if not asked.coached:
        call, commands = changed(call, member, now, told=False)
        return call, (*commands, *hangups)
    call, snoop = numbered(call, "s")
    call, commands = changed(call, replace(member, snoop=snoop), now, told=False)
    return call, (*commands, *hangups, Snoop(snoop, asked.coached))


def on_event(call: Call, conference: Conference, event: Event, now: int) -> Step:
    """Follow the snoops; one that is gone, or can't meet its coach, ends the coaching."""
    coaches = [each for each in conference.members if each.snoop]
    for each in coaches:
        match event:
            case LegPlaced(each.snoop):
                return changed(call, replace(each, is_snooping=True), now, told=False)
            case LegEnded(each.snoop):
                return _undone(call, each, now)
            case BridgeFailed(bridge) if bridge == coach_room(each.snoop):
                call, commands = _undone(call, each, now)
                return call, (*commands, Hangup(each.snoop, causes.NORMAL))
    return call, _stayed(call, event)


def _stayed(call: Call, event: Event) -> tuple[Leave, ...]:
    """Take a coach out who did not get to its snoop, and by now is to be in no bridge."""
    if not isinstance(event, BridgeFailed) or not isinstance(call.doing, Talking):
        return ()
    room, outside = call.doing.bridge, seats(call)
    late = (leg for leg in event.legs if leg in outside and not outside[leg].bridge)
    return tuple(Leave(room, leg) for leg in late) if event.bridge != room else ()


def ended(call: Call, coached: str, now: int) -> Step:
    """End the coaching of a leg that leaves."""
    commands: tuple[Command, ...] = ()
    for each in call.conference.members if call.conference else ():
        if each.coaches == coached:
            call, told = _undone(call, each, now)
            commands = (*commands, *told, Hangup(each.snoop, causes.NORMAL))
    return call, commands


def _undone(call: Call, member: Member, now: int) -> Step:
    """Silence a coach whose other side has gone: nobody is to hear it by accident."""
    free = replace(member, coaches="", snoop="", is_snooping=False)
    call, _ = changed(call, free, now, told=False)
    return mute(call, member.leg, muted_too(call.muted(member.leg), "in"), now)
