"""Keys that nobody heard who could act on them: which of those heard otherwise the call lacks.

What tells events over ARI hears a key only while it is connected; the manager interface tells the
same keys, with the same durations, a moment later (docs/asterisk.md).
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from engine.calls.model.call import Call, update_leg
from engine.calls.model.events import DigitPressed, Event, PlaybackEnded
from engine.calls.model.leg import LastDigit
from engine.calls.model.state import CallState, Dialing, Gathering, Playing, RecordingVoicemail

MAX_AMI_DELAY_MS = (
    300  # AMI stamps a key so long after ARI at most (measured: 30, docs/asterisk.md)
)
ARI_DELAY_MS = 50  # ARI tells a key before AMI does, or so soon after it (measured: 4)
DigitsByLeg = Mapping[str, Sequence[DigitPressed]]  # by leg, in order


def missing_digits(
    call: Call, heard: DigitsByLeg, waiting: Mapping[str, DigitPressed]
) -> tuple[DigitPressed, ...]:
    """Choose the keys that the call lacks.

    `heard`: what AMI told of late; `waiting`: of each leg the first key that will be told anyway.
    """
    found: list[DigitPressed] = []
    for leg in call.legs:
        keys = heard.get(leg.id, ())
        if leg.last_digit is not None:
            keys = _after(keys, leg.last_digit)
        if leg.id in waiting:
            keys = _before(keys, waiting[leg.id])
        found += keys
    return tuple(sorted(found, key=lambda key: key.pbx_ms))


def digits_in_gap(
    keys: Sequence[DigitPressed], last: Mapping[str, DigitPressed], now: int
) -> tuple[DigitPressed, ...]:
    """Choose the keys that ARI missed after others that wait to be taken, to wait behind them.

    `keys`: those that a call lacks; `last`: of each leg the last that came before some were missed.
    """
    found: list[DigitPressed] = []
    for leg, kept in last.items():
        told = LastDigit(kept.digit, kept.held_ms, kept.pbx_ms, kept.missed)
        found += _after([key for key in keys if key.leg == leg], told)
    # Taken as if ARI had told them: what else is taken of them, with the outage's, is known again.
    missed = (replace(key, missed=False) for key in found if key.up_ms <= now - ARI_DELAY_MS)
    return tuple(sorted(missed, key=lambda key: key.pbx_ms))


def collected_digits(call: Call, keys: Sequence[DigitPressed]) -> tuple[DigitPressed, ...]:
    """Choose the keys that were let go while their leg's keys counted, as they do now."""
    since = dict(_counted(call))
    return tuple(key for key in keys if since.get(key.leg, key.up_ms + 1) <= key.up_ms)


def undelivered_digits(call: Call, heard: DigitsByLeg, now: int) -> tuple[DigitPressed, ...]:
    """Choose the keys that count and that ARI has not told, though it should have by now.

    So its websocket is lost, and nobody has noticed yet.
    """
    since = dict(_counted(call))  # a key just before that was told, and AMI tells it a moment later
    until_ms = now - ARI_DELAY_MS
    keys = missing_digits(call, heard, {})
    return tuple(k for k in keys if since.get(k.leg, now) + ARI_DELAY_MS <= k.up_ms <= until_ms)


def digits_after_prompts(
    call: Call, keys: Sequence[DigitPressed], events: Sequence[Event]
) -> tuple[DigitPressed, ...]:
    """Choose the keys that were let go after a prompt had ended, whose end nobody heard either."""
    over = {event.playback for event in events if isinstance(event, PlaybackEnded)}
    since = {
        leg: doing.ends_ms
        for leg, doing in _parts(call)
        if isinstance(doing, Playing) and doing.request in over
    }
    return tuple(key for key in keys if since.get(key.leg, key.up_ms + 1) <= key.up_ms)


def is_already_delivered(call: Call, pressed: DigitPressed) -> bool:
    """Tell whether ARI tells a key that has been taken from AMI."""
    leg = call.leg(pressed.leg)
    last = leg.last_digit if leg is not None else None
    if last is None or not last.missed or pressed.missed:
        return False
    return 0 < pressed.pbx_ms <= last.pbx_ms


def remember_last(call: Call, pressed: DigitPressed) -> Call:
    """Remember a key that counted, so that it is known again."""
    key = LastDigit(pressed.digit, pressed.held_ms, pressed.pbx_ms, pressed.missed)
    return update_leg(call, pressed.leg, last_digit=key)


def _counted(call: Call) -> Iterator[tuple[str, int]]:
    """Tell whose keys count, and since when."""
    for leg, doing in _parts(call):
        match doing:
            case Gathering(leg=asked, since_ms=since_ms, suspended=False) if since_ms:
                yield asked, since_ms
            case RecordingVoicemail(started_ms=began_ms):
                yield leg, began_ms
            case _:
                pass


def _parts(call: Call) -> Iterator[tuple[str, CallState]]:
    """List what goes on on a leg alone."""
    yield call.main, call.state
    if isinstance(call.state, Dialing):
        for greeting in call.state.screenings:
            yield greeting.leg, greeting.state


def _after(keys: Sequence[DigitPressed], last: LastDigit) -> Sequence[DigitPressed]:
    for place, key in enumerate(keys):
        if _is(key, last.digit, last.held_ms, last.pbx_ms):
            return keys[place + 1 :]
    return [key for key in keys if key.pbx_ms > last.pbx_ms]


def _before(keys: Sequence[DigitPressed], first: DigitPressed) -> Sequence[DigitPressed]:
    for place, key in enumerate(keys):
        if _is(key, first.digit, first.held_ms, first.pbx_ms):
            return keys[:place]
    return [key for key in keys if key.pbx_ms < first.pbx_ms]


def _is(key: DigitPressed, digit: str, held_ms: int, pbx_ms: int) -> bool:
    """Tell whether AMI has told this very key."""
    is_alike = (key.digit, key.held_ms) == (digit, held_ms)
    return is_alike and 0 <= key.pbx_ms - pbx_ms <= MAX_AMI_DELAY_MS
