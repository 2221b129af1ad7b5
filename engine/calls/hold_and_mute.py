"""Mutes and unmutes a leg, puts it on hold and takes it off hold."""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, with_leg
from engine.calls.model.leg import Leg, Muted
from engine.calls.reporting.call_events import emit_leg
from engine.calls.reporting.ended_legs import update_hold_time
from wire.events.call_events import Kind


def release_leg(call: Call, leg_id: str, now: int) -> Step:
    """Take a leg off hold: the party that held it may be gone. A hold of its phone stays."""
    leg = call.leg(leg_id)
    if leg is None or not leg.held:
        return call, ()
    return set_hold(call, leg.with_holds(now, held=False, held_by_phone=leg.held_by_phone), now)


def set_hold(call: Call, leg: Leg, now: int) -> Step:
    """Replace a leg by itself with other holds; emit when its hold begins or ends."""
    before = call.leg(leg.id)
    if before is not None and before.is_held and not leg.is_held:
        leg = replace(leg, digits_from_ms=now)  # keys pressed on hold do not count
    call = update_hold_time(with_leg(call, leg), now)
    if before is None or before.is_held == leg.is_held:
        return call, ()
    kind: Kind = "leg-held" if leg.is_held else "leg-unheld"
    by_phone = before.held_by_phone != leg.held_by_phone
    call, event = emit_leg(call, kind, leg, now, reason="phone" if by_phone else None)
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
