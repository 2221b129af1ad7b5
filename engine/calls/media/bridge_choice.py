"""Chooses the bridge of a conversation, so that Asterisk drops no party's packets as late.

Debian's Asterisk drops packets whose numbers are lower than those before, which may come from
another party (docs/asterisk.md). A leg that stays in its bridge while its only peer is replaced
keeps the converter that has seen the numbers of the first one, until it is reset; after early
media both legs get new ones in another bridge. Between calls that a Local channel connects
(docs/decisions/0008) packets would pass with their numbers: a bridge that always mixes removes
them.
"""

from msgspec.structs import replace

from engine.calls.media.plan import desired_media
from engine.calls.model.call import Call, IdKind, allocate_id
from engine.calls.model.call_id_format import is_mixed_bridge
from engine.calls.model.call_states import Bridged, Dialing
from engine.calls.model.commands import ResetConverter

PAIR = 2  # legs; more are mixed, and mixed audio has no packet numbers


def choose_bridge(before: Call, call: Call) -> Call:
    """Move a conversation to another bridge if its present one would drop packets."""
    state = call.state
    if not isinstance(state, Bridged) or is_mixed_bridge(state.bridge):
        return call
    if any(leg.is_local_channel and leg.state == "up" for leg in call.legs):
        return _in_new_bridge(call, state, "m")
    return _in_new_bridge(call, state, "b") if _is_answered(before, state) else call


def reset_converters(before: Call, call: Call) -> tuple[ResetConverter, ...]:
    """Reset the converter of a leg that stays in its bridge while its only peer is replaced."""
    state = call.state
    if before.state is state or not isinstance(before.state, Bridged):
        return ()
    if not isinstance(state, Bridged) or is_mixed_bridge(state.bridge):
        return ()
    was, is_now = _legs_in(before, before.state.bridge), _legs_in(call, state.bridge)
    is_other_pair = len(was) == len(is_now) == PAIR and was != is_now
    return tuple(map(ResetConverter, sorted(was & is_now))) if is_other_pair else ()


def _is_answered(before: Call, state: Bridged) -> bool:
    """Return whether early media ends: what follows the answer may come from elsewhere."""
    return isinstance(before.state, Dialing) and before.state.bridge == state.bridge


def _legs_in(call: Call, bridge: str) -> set[str]:
    return {leg for leg, media in desired_media(call).items() if media.bridge == bridge}


def _in_new_bridge(call: Call, state: Bridged, kind: IdKind) -> Call:
    call, bridge = allocate_id(call, kind)
    return replace(call, state=replace(state, bridge=bridge))
