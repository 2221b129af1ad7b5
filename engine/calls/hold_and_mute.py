"""Mutes and unmutes a leg, and takes it off hold."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, with_leg
from engine.calls.model.leg import Muted
from engine.calls.reporting.call_events import emit_leg
from engine.calls.reporting.history import update_hold_time
from wire.events import Kind


def release_leg(call: Call, leg_id: str, now: int) -> Step:
    """Take a leg off hold: the party that held it may be gone."""
    leg = call.leg(leg_id)
    if leg is None or not leg.held:
        return call, ()
    leg = leg.without_hold(now)
    call, event = emit_leg(update_hold_time(with_leg(call, leg), now), "leg-unheld", leg, now)
    return call, (event,)


def set_mute(call: Call, leg_id: str, muted: Muted, now: int) -> Step:
    """Mute a leg in a direction, or unmute it."""
    leg = call.leg(leg_id)
    if leg is None or leg.muted == muted:
        return call, ()
    kind: Kind = "leg-muted" if muted else "leg-unmuted"
    leg = replace(leg, muted=muted)
    call, event = emit_leg(with_leg(call, leg), kind, leg, now, muted=muted or None)
    return call, (event,)
