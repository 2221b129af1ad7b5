"""What holds whenever a leg comes or goes: it is marked, told, and let into what waits for it."""

from typing import Literal

from msgspec.structs import replace

from engine.calls.dispatch import carried_on
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, ringing_in, with_leg
from engine.calls.model.commands import Command, Hangup, Ring
from engine.calls.model.events import Event, LegAnswered, LegEnded, LegPlaced, LegRang
from engine.calls.model.leg import Leg
from engine.calls.model.state import Dialing, Ending, Filing, Gathering, Recording, Talking
from engine.calls.reporting.call_events import tell, tell_leg, tell_leg_ended
from engine.calls.reporting.history import gone
from engine.calls.sessions import conference, conversation, leg_control, transfer
from engine.calls.verbs import gather, hangup, record
from wire.events import Kind

LegMoved = LegPlaced | LegRang | LegAnswered


def marked(call: Call, leg: Leg, event: LegMoved, now: int) -> Step:
    """Note how far a leg has come, and tell it."""
    match event:
        case LegPlaced() if leg.state == "requested":
            ring = Ring(leg.id, int(leg.ring_s))
            return with_leg(call, replace(leg, state="created", asked_ms=now)), (ring,)
        case LegRang() if leg.state in {"requested", "created"}:
            leg = replace(leg, state="ringing")
            if leg.id == call.main:
                call = replace(call, status="ringing")
            return _told(with_leg(call, leg), "ringing", leg, now)
        case LegAnswered() if leg.state != "up":
            leg = replace(leg, state="up", answered_ms=now)
            if leg.id == call.main:
                call = replace(call, status="in-progress", answered_ms=now)
            return _told(with_leg(call, leg), "answered", leg, now)
        case _:
            return call, ()


def _told(call: Call, fact: Literal["ringing", "answered"], leg: Leg, now: int) -> Step:
    if leg.id == call.main:
        call, told = tell(call, fact, now, channel_id=leg.id, party=leg.party)
    else:
        kind: Kind = "leg-ringing" if fact == "ringing" else "leg-answered"
        call, told = tell_leg(call, kind, leg, now)
    return call, (told,)


def followed(call: Call, event: Event, now: int) -> Step:
    """Let an invited leg in, and the live session follow what happened."""
    commands: tuple[Command, ...] = ()
    if isinstance(event, LegAnswered) and event.leg in call.invited:
        call, commands = _let_in(call, event.leg, now)
    if isinstance(call.doing, Talking):
        call, more = _in_talk(call, call.doing, event, now)
        commands += more
    if isinstance(event, LegEnded) and event.leg in call.invited:
        call = leg_control.uninvited(call, event.leg)
    return call, commands


def expired(call: Call, now: int) -> Step:
    """Give up the parties who were called into what goes on and have not answered in time."""
    late = [leg.id for leg in call.legs if leg.id in ringing_in(call) and _is_late(leg, now)]
    commands: tuple[Command, ...] = ()
    for leg in late:
        call, more = _given_up(call, leg, now)
        commands += (*more, Hangup(leg, causes.NO_ANSWER))
    return call, commands


def _is_late(leg: Leg, now: int) -> bool:
    return leg.state != "up" and now >= leg.rings_until_ms


def _given_up(call: Call, leg: str, now: int) -> Step:
    if call.transfer is not None and leg == call.transfer.target:
        return transfer.failed(call, call.transfer, causes.NO_ANSWER, now)
    member = call.conference.member(leg) if call.conference else None
    if member is not None:
        return conference.left(call, member, "no_answer", now)
    return leg_control.uninvited(call, leg), ()


def _let_in(call: Call, leg: str, now: int) -> Step:
    if isinstance(call.doing, Dialing):
        return leg_control.moved_to_dial(call, call.doing), ()
    return leg_control.joined(call, leg, now)


def _in_talk(call: Call, doing: Talking, event: Event, now: int) -> Step:
    if call.transfer is not None:
        before = call
        call, commands = transfer.on_event(call, call.transfer, event, now)
        if call is not before:
            return call, commands
    elif call.conference is not None:
        return conference.on_event(call, call.conference, event, now)
    match event:
        case LegEnded(leg, cause) if leg in doing.legs:
            return conversation.without(call, doing, (leg,), cause, now)
        case _:
            return call, ()


def leg_ended(call: Call, leg: Leg | None, event: LegEnded, now: int) -> Step:
    """Let a leg be gone; with the main one the call ends, unless others go on without it."""
    if leg is None and isinstance(call.doing, Filing):
        return hangup.on_filing(call, event, now)
    if leg is None:
        return followed(call, event, now)
    in_conference = call.conference is not None
    call, past = gone(call, leg, event, now)
    call, commands = followed(call, event, now)
    if leg.id != call.main:
        call, told = tell_leg_ended(call, past, now)
        call, commands = carried_on(call, (told, *commands), event, now)
        return (_lost_with(call, event) if in_conference else call), commands
    if isinstance(call.doing, Ending):
        return carried_on(call, commands, event, now)
    call, ending = _main_ended(call, event, now)
    return call, (*commands, *ending)


def _lost_with(call: Call, event: LegEnded) -> Call:
    """Say that a conference was lost if it ends with a member who was, the main one or another."""
    if event.cause != causes.LOST or not isinstance(call.doing, Ending):
        return call
    return replace(call, reason=causes.reason(causes.LOST))


def _main_ended(call: Call, event: LegEnded, now: int) -> Step:
    if event.cause == causes.LOST:
        lost = replace(call, reason=causes.reason(causes.LOST))
        return ended(lost, now, "system", causes.TEMPORARY_FAILURE)
    call = replace(call, cause=event.cause, sip_code=event.sip_code)
    call = replace(call, reason=event.reason or call.reason)
    by = "system" if event.reason else "caller" if call.direction == "inbound" else "callee"
    return ended(call, now, by, event.cause)


def ended(call: Call, now: int, by: str, cause: int) -> Step:
    """End the call; what was collected of a caller who is gone is told, or filed."""
    commands: tuple[Command, ...] = ()
    if isinstance(call.doing, Gathering) and call.leg(call.main) is None:
        call, commands = gather.abandon(call, call.doing, now)
    if isinstance(call.doing, Recording):
        call, commands = record.abandon(call, call.doing, now)
    call, hangups = hangup.start(call, now, by, cause)
    return call, (*commands, *hangups)
