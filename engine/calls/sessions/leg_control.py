"""Control of one leg of a live call: mute, hold, hang up."""

from msgspec.structs import replace

from engine.calls.hold_and_mute import set_hold, set_mute
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, update_leg, with_leg
from engine.calls.model.commands import Hangup
from engine.calls.model.events import LegHeldByPhone, LegResumedByPhone
from engine.calls.model.leg import Leg, Muted
from engine.calls.model.requests import (
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
)
from engine.calls.sessions.custom_hold_music import restart_loop
from engine.calls.states import resume, suspend
from engine.calls.verbs.suspendable_playback import stop_sound

LegRequest = LegHangupRequested | MuteRequested | HoldRequested
PhoneHold = LegHeldByPhone | LegResumedByPhone


def apply(call: Call, event: LegRequest, now: int) -> Step:
    """Apply a request to an existing leg; do nothing if it already holds."""
    leg = call.leg(event.leg)
    match event:
        case LegHangupRequested():
            # A leg that answers before the hangup reaches it is no longer admitted.
            call = update_leg(call, event.leg, hangup_requested=True)
            return call, (Hangup(event.leg, causes.NORMAL),)
        case MuteRequested(direction=direction):
            return _mute(call, event.leg, direction, now)
        case HoldRequested(held=held) if leg and leg.held != held:
            changed = leg.with_holds(now, held=held, held_by_phone=leg.held_by_phone)
            return _change_hold(call, changed, now)
        case _:
            return call, ()


def _mute(call: Call, leg: str, muted: Muted, now: int) -> Step:
    """Mute a leg; a playback is stopped and resumed, as the mute would wait for its end."""
    call, events = set_mute(call, leg, muted, now)
    if not events or not stop_sound(call.state):
        return restart_loop(call, leg) if events else call, events
    call, stops = suspend(call, leg, now)
    call, plays = resume(call, leg, now) if stops else (call, ())
    return call, (*events, *stops, *plays)


def on_phone_hold(call: Call, event: PhoneHold, now: int) -> Step:
    """Track the hold of a leg's phone, which suspends and resumes its verb as a request does.

    That of an answer is reported just before the answer.
    """
    leg, is_held = call.leg(event.leg), isinstance(event, LegHeldByPhone)
    if leg is None or leg.held_by_phone == is_held:
        return call, ()
    if leg.state != "up":
        since_ms = now if is_held else 0
        return with_leg(call, replace(leg, held_by_phone=is_held, held_since_ms=since_ms)), ()
    return _change_hold(call, leg.with_holds(now, held=leg.held, held_by_phone=is_held), now)


def _change_hold(call: Call, leg: Leg, now: int) -> Step:
    call, events = set_hold(call, leg, now)
    if not events:
        return call, ()  # it is still on hold, by the other means
    call, sounds = (suspend if leg.is_held else resume)(call, leg.id, now)
    return call, (*events, *sounds)
