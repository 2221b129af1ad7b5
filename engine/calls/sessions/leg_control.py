"""What people do to one leg of a live call: silence it, hold it, call it in, hang it up."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Step, changed_leg, numbered, with_leg
from engine.calls.model.commands import Command, Hangup, Originate
from engine.calls.model.leg import Leg, Muted
from engine.calls.model.requests import (
    DialRequested,
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
)
from engine.calls.model.state import Asking, Dialing, Doing, Gathering, Playing, Recording, Talking
from engine.calls.reporting.call_events import tell_leg
from engine.calls.reporting.history import hold_counted
from engine.calls.session_end import freed, mute
from engine.calls.sessions.hold_music import begun_anew
from engine.calls.verbs import gather, play
from engine.calls.verbs.dial import reaching
from engine.calls.verbs.prompt import stopped
from wire import verbs
from wire.verbs import Action

OnLeg = LegHangupRequested | MuteRequested | HoldRequested


def on_leg(call: Call, event: OnLeg, now: int) -> Step:
    """Do what was asked of a leg, which is there; what holds already changes nothing."""
    leg = call.leg(event.leg)
    match event:
        case LegHangupRequested():
            # Who answers before the hangup has come to it is not let in any more.
            call = changed_leg(call, event.leg, let_go=True)
            return call, (Hangup(event.leg, causes.NORMAL),)
        case MuteRequested(direction=direction):
            return _silence(call, event.leg, direction, now)
        case HoldRequested(held=held) if leg and leg.held != held:
            return _hold(call, leg, now) if held else _unhold(call, leg, now)
        case _:
            return call, ()


def _silence(call: Call, leg: str, muted: Muted, now: int) -> Step:
    """Mute a leg; what is played to it is stopped for that, else its end would be waited for."""
    call, told = mute(call, leg, muted, now)
    if not told or not stopped(call.doing):
        return begun_anew(call, leg) if told else call, told
    call, stops = _paused(call, leg, now)
    call, plays = _resumed(call, leg, now) if stops else (call, ())
    return call, (*told, *stops, *plays)


def _hold(call: Call, leg: Leg, now: int) -> Step:
    held = leg.on_hold(now)
    call, told = tell_leg(hold_counted(with_leg(call, held), now), "leg-held", held, now)
    call, stops = _paused(call, leg.id, now)
    return call, (told, *stops)


def _unhold(call: Call, leg: Leg, now: int) -> Step:
    call, told = freed(call, leg.id, now)
    call, plays = _resumed(call, leg.id, now)
    return call, (*told, *plays)


def _paused(call: Call, leg: str, now: int) -> Step:
    match call.doing:
        case Playing() as doing if leg == call.main:
            return play.pause(call, doing, now)
        case Gathering() as doing if leg == doing.leg:
            return gather.pause(call, doing, now)
        case _:
            return call, ()


def _resumed(call: Call, leg: str, now: int) -> Step:
    match call.doing:
        case Playing() as doing if leg == call.main:
            return play.resume(call, doing, now)
        case Gathering() as doing if leg == doing.leg:
            return gather.resume(call, doing, now)
        case _:
            return call, ()


def dial(call: Call, event: DialRequested, now: int) -> Step:
    """Call one more party in; while others are dialled, it is one of them."""
    call, _leg, commands = invite(call, event.party, event.ring_s, now, event.caller_id)
    if isinstance(call.doing, Dialing):
        return moved_to_dial(call, call.doing), commands
    return call, commands


def invite(
    call: Call, party: str, ring_s: float, now: int, caller_id: str = ""
) -> tuple[Call, str, tuple[Command, ...]]:
    """Call a party that will join the conversation when it answers; gives its leg's id."""
    call, leg_id = numbered(call, "l")
    leg = Leg(leg_id, party, "requested", now, ring_s=ring_s)
    call, told = tell_leg(with_leg(call, leg), "leg-initiated", leg, now)
    call = replace(call, invited=(*call.invited, leg_id))
    return call, leg_id, (told, Originate(leg_id, party, caller_id or call.caller_id))


def uninvited(call: Call, leg: str) -> Call:
    """Wait for a leg no more: it has come, or it will not."""
    return replace(call, invited=tuple(each for each in call.invited if each != leg))


def moved_to_dial(call: Call, doing: Dialing) -> Call:
    """Make the invited one of those who are dialled: the first to answer wins."""
    until = [leg.rings_until_ms for leg in call.legs if leg.id in call.invited]
    doing = replace(
        doing, legs=(*doing.legs, *call.invited), deadline_ms=max(doing.deadline_ms, *until)
    )
    return replace(call, doing=doing, invited=())


def joined(call: Call, leg: str, now: int) -> Step:
    """Let an invited leg that has answered into the conversation, or make one with it."""
    call = uninvited(call, leg)
    if isinstance(call.doing, Talking):
        return replace(call, doing=replace(call.doing, legs=(*call.doing.legs, leg))), ()
    call, bridge = numbered(call, "b")
    invited = call.leg(leg)
    data = reaching(invited.party if invited else "")
    asking = call.doing if isinstance(call.doing, Asking) else None
    talking = Talking(
        verb=verbs.Dial(data, _again(call.doing)),
        leg=leg,
        legs=(leg,),
        bridge=bridge,
        since_ms=now,
        deadline_ms=call.latest_ms,
        number=data.number if isinstance(data.number, str) else None,
        asking=asking,
    )
    return replace(call, doing=talking), stopped(call.doing)


def _again(doing: Doing) -> Action | None:
    """Give what a conversation interrupts: it begins anew afterwards."""
    return doing.verb if isinstance(doing, (Playing, Gathering, Recording)) else None
