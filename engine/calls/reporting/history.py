"""What a call remembers for its record: legs that have gone, time on hold, collected digits."""

from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call import Call, Gathered, expects
from engine.calls.model.events import LegEnded
from engine.calls.model.leg import Leg, PastLeg

MOST_KEPT = 100  # of each: it is stored with every step of the call


def gone(call: Call, leg: Leg, ended: LegEnded, now: int) -> tuple[Call, PastLeg]:
    """Take an ended leg out: answered and done, not expected any more, or why it never was."""
    status = "completed" if leg.answered_ms else causes.unanswered(ended.cause)
    if status == "failed" and not expects(call, leg.id):
        status = "canceled"
    past = PastLeg(leg.off_hold(now), now, status, ended.cause, ended.sip_code, ended.reason)
    kept = (*call.past, past)
    call = replace(
        call,
        legs=tuple(each for each in call.legs if each.id != leg.id),
        past=kept[-MOST_KEPT:],
        past_omitted=call.past_omitted + max(0, len(kept) - MOST_KEPT),
    )
    return hold_counted(call, now), past


def given_up(call: Call, now: int) -> Call:
    """Take out the legs that never said that they ended."""
    for leg in call.legs:
        call, _ = gone(call, leg, LegEnded(leg.id, causes.LOST), now)
    return call


def hold_counted(call: Call, now: int) -> Call:
    """Count the time in which anybody is on hold, once however many are."""
    is_held = call.answered_ms > 0 and any(leg.held for leg in call.legs)
    if is_held == bool(call.held_since_ms):
        return call
    if is_held:
        return replace(call, held_since_ms=now)
    lasted_ms = max(0, now - call.held_since_ms)
    return replace(call, held_since_ms=0, held_ms=call.held_ms + lasted_ms)


def noted(call: Call, gathered: Gathered) -> Call:
    """Remember what a gather collected."""
    return replace(call, gathered=(*call.gathered, gathered)[-MOST_KEPT:])
