"""Control of one leg of a live call: mute, hold, hang up."""

from engine.calls.hold_and_mute import release_leg, set_mute
from engine.calls.model import causes
from engine.calls.model.call import Call, Step, update_leg, with_leg
from engine.calls.model.commands import Hangup
from engine.calls.model.leg import Leg, Muted
from engine.calls.model.requests import (
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
)
from engine.calls.reporting.call_events import emit_leg
from engine.calls.reporting.history import update_hold_time
from engine.calls.sessions.custom_hold_music import restart_loop
from engine.calls.verbs import registry
from engine.calls.verbs.suspendable_playback import stop_sound

LegRequest = LegHangupRequested | MuteRequested | HoldRequested


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
            return _hold(call, leg, now) if held else _unhold(call, leg, now)
        case _:
            return call, ()


def _mute(call: Call, leg: str, muted: Muted, now: int) -> Step:
    """Mute a leg; a playback is stopped and resumed, as the mute would wait for its end."""
    call, events = set_mute(call, leg, muted, now)
    if not events or not stop_sound(call.state):
        return restart_loop(call, leg) if events else call, events
    call, stops = registry.suspend(call, leg, now)
    call, plays = registry.resume(call, leg, now) if stops else (call, ())
    return call, (*events, *stops, *plays)


def _hold(call: Call, leg: Leg, now: int) -> Step:
    held = leg.with_hold(now)
    call, event = emit_leg(update_hold_time(with_leg(call, held), now), "leg-held", held, now)
    call, stops = registry.suspend(call, leg.id, now)
    return call, (event, *stops)


def _unhold(call: Call, leg: Leg, now: int) -> Step:
    call, events = release_leg(call, leg.id, now)
    call, plays = registry.resume(call, leg.id, now)
    return call, (*events, *plays)
