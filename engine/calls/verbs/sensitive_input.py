"""Sensitive input: which digits of a call are sealed before the call receives them.

Those of a sensitive gather are, and those that its leg types ahead for it: from the time the gather
is part of the call's tree, and after it until another gather starts (decision 0045). Who types on
after it, whatever runs then, types the rest of the secret: up to a pause of SURPLUS_MS.
"""

from typing import get_args

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import CallState, Gathering
from engine.calls.model.events import DigitPressed
from engine.calls.model.sealed_digits import UNSEALED
from engine.calls.verbs.type_ahead import state_of
from wire.tree import walk
from wire.verbs import Action, Gather, Verb

SURPLUS_MS = 5_000


def is_sealable(call: Call, pressed: DigitPressed) -> bool:
    """Return whether a digit must be sealed before the call receives it."""
    if pressed.digit in UNSEALED:
        return False
    state = state_of(call, pressed.leg)
    if state is None or isinstance(state, Gathering):
        return state is not None and state.verb.data.sensitive
    if not state.keeps_digits:
        return pressed.pressed_ms < call.sensitive_until_ms
    return call.sensitive_input or _is_expected(call, state)


def expect_surplus(call: Call, now: int) -> Call:
    """Seal what is typed on after a sensitive gather, or after a sealed digit."""
    return replace(call, sensitive_until_ms=now + SURPLUS_MS)


def sensitive_leg(call: Call) -> str | None:
    """Return the leg whose sensitive digits the call collects now, if any."""
    state = call.state
    if isinstance(state, Gathering) and state.verb.data.sensitive:
        return state.leg
    return None


def _is_expected(call: Call, state: CallState) -> bool:
    """Return whether the rest of the tree has a sensitive gather."""
    fields = (getattr(state, name) for name in state.__struct_fields__)
    pending = (each for each in (*fields, *call.continuation) if isinstance(each, get_args(Verb)))
    return any(map(_has_sensitive, pending))


def _has_sensitive(action: Action) -> bool:
    nodes = (node for _path, node, _depth in walk(action, ""))
    return any(isinstance(each, Gather) and each.data.sensitive for each in nodes)
