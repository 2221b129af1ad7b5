"""Type-ahead: digits that a leg presses before a gather starts; its next gather takes them.

A digit belongs to the state in which its key went down. It is kept while the leg hears a prompt or
waits for instructions, and dropped in every other state. What separates the input of two states
(a timeout, a hold, a conversation) sets `Leg.digits_from_ms`: a key that went down earlier and is
released later is dropped.
"""

from engine.calls.model.call import Call, update_leg
from engine.calls.model.call_states import CallState, Dialing, Gathering
from engine.calls.model.events import DigitPressed
from engine.calls.model.leg import Leg, SpareTerminator, TypedDigit

MAX_TYPED_AHEAD = 64  # as many as a gather takes
SPARE_TERMINATOR_MS = 3_000  # from the key-down of the digit before it


def accepted_since(call: Call, leg: Leg) -> int | None:
    """Return since when the digits of a leg are accepted; None: they are ignored."""
    if leg.is_held:
        return None
    state = state_of(call, leg.id)
    return None if state is None else state.digit_window(leg.digits_from_ms)


def state_of(call: Call, leg_id: str) -> CallState | None:
    """Return the state that the digits of a leg are for: the call's, or that of its screening."""
    match call.state:
        case Gathering(leg=gathering) as state:
            return state if leg_id == gathering else None
        case Dialing(screenings=screenings):
            return next((each.state for each in screenings if each.leg == leg_id), None)
        case state:
            return state if leg_id == call.main else None


def keep(call: Call, pressed: DigitPressed) -> Call:
    """Keep a digit that no verb took, if the state of its leg keeps digits."""
    leg, state = call.leg(pressed.leg), state_of(call, pressed.leg)
    if leg is None or state is None or not state.keeps_digits or is_of_earlier_state(leg, pressed):
        return call
    typed = (*leg.typed_ahead, TypedDigit(pressed.digit, pressed.pressed_ms))
    return update_leg(call, leg.id, typed_ahead=typed[:MAX_TYPED_AHEAD])


def is_of_earlier_state(leg: Leg, pressed: DigitPressed) -> bool:
    """Return whether a key was held from an earlier state of its leg into the present one.

    After an outage, events are applied late: a digit that arrives after a state started belongs to
    it, even if its key was released before that start. No key goes down before the answer: then a
    phone has named its hold too long (SIP INFO), or the PBX has missed its end; unless it was the
    key of a leg whose place this one has taken.
    """
    is_earlier = pressed.pressed_ms < leg.digits_from_ms <= pressed.up_ms
    return is_earlier and (bool(leg.replaces) or pressed.pressed_ms >= leg.answered_ms)


def take(call: Call, leg_id: str) -> tuple[Call, tuple[TypedDigit, ...]]:
    """Remove and return the digits that a leg has typed ahead."""
    leg = call.leg(leg_id)
    if leg is None or not leg.typed_ahead:
        return call, ()
    return update_leg(call, leg_id, typed_ahead=()), leg.typed_ahead


def put_back(call: Call, leg_id: str, digits: tuple[TypedDigit, ...]) -> Call:
    """Keep the digits that a gather has not used, for the next."""
    leg = call.leg(leg_id)
    if leg is not None and leg.spare_terminator is not None and digits:
        is_spare = _is_spare(leg.spare_terminator, digits[0].digit, digits[0].pressed_ms)
        digits = digits[is_spare:]
        call = update_leg(call, leg_id, spare_terminator=None)
    return update_leg(call, leg_id, typed_ahead=digits) if digits else call


def drop_earlier(call: Call, leg_id: str, at_ms: int) -> Call:
    """Drop the digits typed ahead, and every digit with a key-down before that time."""
    leg = call.leg(leg_id)
    if leg is None:
        return call
    from_ms = max(at_ms, leg.digits_from_ms)
    return update_leg(call, leg_id, typed_ahead=(), digits_from_ms=from_ms)


def expect_spare_terminator(call: Call, leg_id: str, terminator: str, pressed_ms: int) -> Call:
    """Expect the terminator after the last digit of a gather, which went down at `pressed_ms`."""
    if not terminator:
        return call
    spare = SpareTerminator(terminator, pressed_ms + SPARE_TERMINATOR_MS)
    return update_leg(call, leg_id, spare_terminator=spare)


def take_spare_terminator(call: Call, leg: Leg, pressed: DigitPressed) -> tuple[Call, bool]:
    """Return whether a digit of a leg is a spare terminator; later digits are not."""
    if leg.spare_terminator is None:
        return call, False
    is_spare = _is_spare(leg.spare_terminator, pressed.digit, pressed.pressed_ms)
    return update_leg(call, leg.id, spare_terminator=None), is_spare


def _is_spare(expected: SpareTerminator, digit: str, pressed_ms: int) -> bool:
    return digit == expected.digit and pressed_ms <= expected.until_ms
