"""Digits that only AMI reports: those that ARI did not deliver, and keys that are still down.

ARI delivers a digit only while its websocket is connected; AMI reports the same digits, with the
same durations, a moment later (docs/asterisk.md).
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from engine.calls.model.call import Call, update_leg
from engine.calls.model.call_states import CallState, Gathering, Playing
from engine.calls.model.events import DigitPressed, DigitStarted, Event, PlaybackEnded
from engine.calls.model.leg import LastDigit, Leg
from engine.calls.model.sealed_digits import is_sealed
from engine.calls.verbs.type_ahead import accepted_since, state_of

MAX_AMI_DELAY_MS = 300  # from ARI's timestamp to AMI's (measured: 30, docs/asterisk.md)
ARI_DELAY_MS = 50  # from AMI's report to ARI's at most (measured: 4)
DigitsByLeg = Mapping[str, Sequence[DigitPressed]]  # by leg, in order of time
KeysDown = Mapping[str, int]  # by leg: when the key went down


def missing_digits(
    call: Call, logged: DigitsByLeg, queued: Mapping[str, DigitPressed]
) -> tuple[DigitPressed, ...]:
    """Return the digits that the call lacks.

    `logged`: recent digits from AMI; `queued`: each leg's first digit that ARI will deliver.
    """
    found: list[DigitPressed] = []
    for leg in call.legs:
        digits = logged.get(leg.id, ())
        if leg.last_digit is not None:
            digits = _after(digits, leg.last_digit)
        if leg.id in queued:
            digits = _before(digits, queued[leg.id])
        found += digits
    return tuple(sorted(found, key=lambda each: each.pbx_ms))


def digits_in_gap(
    digits: Sequence[DigitPressed], last: Mapping[str, DigitPressed], now: int
) -> tuple[DigitPressed, ...]:
    """Return the digits that ARI missed after buffered ones, to be buffered behind them.

    `digits`: those that a call lacks; `last`: each leg's last digit before the gap.
    """
    found: list[DigitPressed] = []
    for leg, before in last.items():
        last_digit = LastDigit(before.digit, before.held_ms, before.pbx_ms, before.missed)
        found += _after([each for each in digits if each.leg == leg], last_digit)
    # Marked as if ARI had delivered them, so that a second copy is recognized after the outage.
    missed = (replace(e, missed=False) for e in found if e.up_ms <= now - ARI_DELAY_MS)
    return tuple(sorted(missed, key=lambda each: each.pbx_ms))


def collected_digits(call: Call, digits: Sequence[DigitPressed]) -> tuple[DigitPressed, ...]:
    """Return the digits that were released while the leg's current state accepted digits."""
    since_ms = _accepted_since(call)
    return tuple(e for e in digits if _is_released(e, since_ms.get(e.leg)))


def undelivered_digits(call: Call, logged: DigitsByLeg, now: int) -> tuple[DigitPressed, ...]:
    """Return the accepted digits that ARI should have delivered by now, but has not.

    Any of them means that the websocket is lost and this is not detected yet.
    """
    digits = [e for e in missing_digits(call, logged, {}) if e.up_ms <= now - ARI_DELAY_MS]
    # AMI may report a delivered digit just after the state started, hence the delay is added.
    since_ms = _accepted_since(call)
    return tuple(e for e in digits if _is_released(e, since_ms.get(e.leg), ARI_DELAY_MS))


def _accepted_since(call: Call) -> dict[str, int | None]:
    return {leg.id: accepted_since(call, leg) for leg in call.legs}


def keys_at_deadline(
    call: Call, keys_down: KeysDown, logged: DigitsByLeg, now: int
) -> tuple[DigitStarted, ...]:
    """Return the keys that are down on legs whose gather's deadline has passed.

    A key that was released a moment ago counts as down: ARI is about to deliver its digit.
    """
    legs = [leg.id for leg in call.legs if _is_gather_due(state_of(call, leg.id), now)]
    if not legs:
        return ()
    down = [DigitStarted(leg, keys_down[leg]) for leg in legs if leg in keys_down]
    released = (e for e in missing_digits(call, logged, {}) if e.up_ms > now - ARI_DELAY_MS)
    return (*down, *(DigitStarted(e.leg, e.pressed_ms) for e in released if e.leg in legs))


def _is_gather_due(state: CallState | None, now: int) -> bool:
    return isinstance(state, Gathering) and state.deadline_ms <= now


def _is_released(digit: DigitPressed, since_ms: int | None, delay_ms: int = 0) -> bool:
    return since_ms is not None and since_ms + delay_ms <= digit.up_ms


def digits_after_prompt(
    call: Call, digits: Sequence[DigitPressed], events: Sequence[Event]
) -> tuple[DigitPressed, ...]:
    """Return the digits that were released after a prompt whose end was missed too."""
    ended = {event.playback for event in events if isinstance(event, PlaybackEnded)}
    return tuple(e for e in digits if _is_after_prompt(state_of(call, e.leg), e, ended))


def _is_after_prompt(state: CallState | None, digit: DigitPressed, ended: set[str]) -> bool:
    return isinstance(state, Playing) and state.request in ended and state.ends_ms <= digit.up_ms


def is_already_delivered(leg: Leg, pressed: DigitPressed) -> bool:
    """Return whether ARI delivers a digit that was already taken from AMI."""
    last = leg.last_digit
    if last is None or not last.missed or pressed.missed:
        return False
    return 0 < pressed.pbx_ms <= last.pbx_ms


def remember_last(call: Call, pressed: DigitPressed) -> Call:
    """Store an accepted digit, so that a second copy of it is recognized."""
    last = LastDigit(pressed.digit, pressed.held_ms, pressed.pbx_ms, pressed.missed)
    return update_leg(call, pressed.leg, last_digit=last)


def _after(digits: Sequence[DigitPressed], last: LastDigit) -> Sequence[DigitPressed]:
    for index, each in enumerate(digits):
        if _is_same(each, last.digit, last.held_ms, last.pbx_ms):
            return digits[index + 1 :]
    return [each for each in digits if each.pbx_ms > last.pbx_ms]


def _before(digits: Sequence[DigitPressed], first: DigitPressed) -> Sequence[DigitPressed]:
    for index, each in enumerate(digits):
        if _is_same(each, first.digit, first.held_ms, first.pbx_ms):
            return digits[:index]
    return [each for each in digits if each.pbx_ms < first.pbx_ms]


def _is_same(logged: DigitPressed, digit: str, held_ms: int, pbx_ms: int) -> bool:
    """Return whether a digit from AMI is this very digit; a sealed one is known by its times."""
    is_alike = logged.held_ms == held_ms and (logged.digit == digit or is_sealed(digit))
    return is_alike and 0 <= logged.pbx_ms - pbx_ms <= MAX_AMI_DELAY_MS
