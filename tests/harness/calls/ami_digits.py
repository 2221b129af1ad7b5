"""Digits that AMI reports, and a recovery with them."""

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import Gathering
from engine.calls.model.events import DigitPressed
from engine.calls.model.storage_format import decode_call, encode
from engine.calls.recovery.missed_digits import missing_digits
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call

UP = PbxSnapshot({MAIN: "Up"})
LAG_MS = 7
HELD_MS = 80


def ari_digit(story: Story, digit: str, after_ms: int = 0, leg: str = MAIN) -> DigitPressed:
    """Return a digit as ARI reports it, released so long after now."""
    up_ms = story.now + after_ms
    return DigitPressed(leg, digit, up_ms - HELD_MS, HELD_MS, up_ms)


def ami_digit(key: DigitPressed, lag_ms: int = LAG_MS) -> DigitPressed:
    """Return the same digit as AMI reports it."""
    return replace(key, pressed_ms=key.pressed_ms + lag_ms, pbx_ms=key.pbx_ms + lag_ms, missed=True)


def gathering(**data: object) -> Story:
    """Return a call that gathers digits."""
    return answered_call({"type": "gather", "data": {"timeout": 5_000, **data}, "action": HTTPS})


def recover(
    story: Story, *heard: DigitPressed, seen: PbxSnapshot = UP, after_ms: int = 3_000
) -> None:
    """Recover the call from its stored form, with digits that AMI reported."""
    story.now += after_ms
    story.call = decode_call(encode(story.call))
    keys = missing_digits(story.call, by_leg(heard), {})
    for event in reconcile(story.call, (), seen, story.now, keys)[1]:
        story.take(event)


def by_leg(heard: tuple[DigitPressed, ...]) -> dict[str, list[DigitPressed]]:
    """Group digits as an engine stores them."""
    return {leg: [key for key in heard if key.leg == leg] for leg in {key.leg for key in heard}}


def gathered_digits(call: Call) -> str:
    assert isinstance(call.state, Gathering)
    return call.state.digits
