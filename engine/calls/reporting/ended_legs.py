"""Moves ended legs from the live ones to those of the record, and counts the call's hold time."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, is_expected
from engine.calls.model.events import LegEnded
from engine.calls.model.leg import EndedLeg, Leg
from engine.calls.reporting.dialled_legs import dialled_ms

MAX_HISTORY = 100  # of each kind: they are stored with every step of the call
RECOVERY_MS = 100  # the missed events of a call are taken one after another


def archive_leg(call: Call, leg: Leg, ended: LegEnded, now: int) -> tuple[Call, EndedLeg]:
    """Move an ended leg from the live legs to the history, with its final status."""
    status = "completed" if leg.answered_ms else causes.unanswered_status(ended.cause)
    if status == "failed" and not is_expected(call, leg.id):
        status = "canceled"
    ended_ms = last_seen_ms(call, ended, now)
    final = leg.with_holds(ended_ms, held=False, held_by_phone=False).without_talk(ended_ms)
    ended_leg = EndedLeg(
        replace(final, typed_ahead=()),
        ended_ms,
        status,
        ended.cause,
        ended.sip_code,
        ended.reason,
        leg.hung_up_by or ended_by(leg, ended),
        now - ended_ms,
    )
    kept = (*call.ended_legs, ended_leg)
    call = replace(
        call,
        legs=tuple(each for each in call.legs if each.id != leg.id),
        ended_legs=kept[-MAX_HISTORY:],
        ended_legs_omitted=call.ended_legs_omitted + max(0, len(kept) - MAX_HISTORY),
        ended_legs_omitted_ms=call.ended_legs_omitted_ms + dialled_ms(kept[:-MAX_HISTORY]),
    )
    return update_hold_time(call, ended_ms), ended_leg


def last_seen_ms(call: Call, ended: LegEnded, now: int) -> int:
    """Return when a leg ended; of one that ended unnoticed, when it was last known to be up.

    It was up when another leg of its call did something: its end would have been reported first.
    An owner that dies has seen more than `seen_ms`, and the store's clock may have been set.
    """
    if not ended.seen_ms:
        return now
    changes = (
        *(_last_change_ms(each, now) for each in call.legs),
        *(each.ended_ms for each in call.ended_legs),
    )
    return min(now, max(ended.seen_ms, *changes))


def _last_change_ms(leg: Leg, now: int) -> int:
    """Return the latest time that the data of a leg prove.

    A conversation that begins now proves nothing: the end of another leg has led to it.
    """
    talked_ms = leg.talking_since_ms if leg.talking_since_ms < now - RECOVERY_MS else 0
    began_ms = max(leg.requested_ms, leg.answered_ms, leg.held_since_ms, talked_ms)
    return max(began_ms, leg.held_until_ms, leg.answered_ms + leg.held_ms + leg.talk_ms)


def ended_by(leg: Leg, ended: LegEnded) -> causes.EndedBy:
    """Return who ended a leg that the call did not hang up."""
    is_fault = causes.is_fault(ended.cause, ended.sip_code, is_answered=leg.answered_ms > 0)
    return "system" if ended.reason or is_fault else leg.role


def archive_all_legs(call: Call, now: int) -> Call:
    """Archive the legs whose end was never reported."""
    for leg in call.legs:
        call, _ = archive_leg(call, leg, LegEnded(leg.id, causes.LOST), now)
    return call


def update_hold_time(call: Call, now: int) -> Call:
    """Count the time in which at least one leg is on hold."""
    is_held = call.answered_ms > 0 and any(leg.is_held for leg in call.legs)
    if is_held == bool(call.held_since_ms):
        return call
    if is_held:
        return replace(call, held_since_ms=now)
    duration_ms = max(0, now - call.held_since_ms)
    return replace(call, held_since_ms=0, held_ms=call.held_ms + duration_ms)
