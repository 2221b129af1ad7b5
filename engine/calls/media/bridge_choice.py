"""Chooses the bridge of a conversation, so that Asterisk drops no party's packets as late.

Debian's Asterisk drops packets whose numbers are lower than those before, which may come from
another party (docs/asterisk.md). A leg whose only peer in a bridge is replaced keeps the converter
that has seen the numbers of the first one, until it is reset; after early media both legs get new
ones in another bridge. A mix of several parties, a prompt and music have no packet numbers.
Between calls that a Local channel connects (docs/decisions/0008) packets would pass with their
numbers: a bridge that always mixes removes them. A conference has such a bridge, too, from its
third member on: where Asterisk stops mixing because two are left, a packet on its way may make one
of the two deaf in the next mix.
"""

from msgspec.structs import replace

from engine.calls.media.plan import desired_media, other_legs
from engine.calls.model.call import Call, allocate_id, update_leg
from engine.calls.model.call_states import Bridged, Dialing
from engine.calls.model.commands import ResetConverter
from wire.call_id_format import is_mixed_bridge, mixed_bridge

SMALLEST_MIX = 3


def choose_bridge(before: Call, call: Call) -> Call:
    """Move a conversation to another bridge if its present one would drop packets."""
    state = call.state
    if not isinstance(state, Bridged) or is_mixed_bridge(state.bridge):
        return call
    has_local = any(leg.is_local_channel and leg.state == "up" for leg in call.legs)
    if has_local or (call.conference and _has_third_member(call, state.bridge)):
        return replace(call, state=replace(state, bridge=mixed_bridge(state.bridge)))
    return _in_new_bridge(call, state) if _is_answered(before, state) else call


def reset_converters(call: Call) -> tuple[Call, tuple[ResetConverter, ...]]:
    """Reset the converters of legs that hear another party alone than the last one.

    A leg that is alone in its bridge meanwhile, or moves to another, may keep its converter.
    """
    plan = desired_media(call)
    commands: tuple[ResetConverter, ...] = ()
    for leg in call.legs:
        bridge = plan[leg.id].bridge if leg.id in plan else ""
        others = other_legs(plan, leg.id)
        if bridge and not others:
            continue
        party = others[0] if len(others) == 1 and not is_mixed_bridge(bridge) else ""
        if party and leg.last_heard not in {"", party}:
            commands = (*commands, ResetConverter(leg.id))
        if party != leg.last_heard:
            call = update_leg(call, leg.id, last_heard=party)
    return call, commands


def _has_third_member(call: Call, bridge: str) -> bool:
    return sum(media.bridge == bridge for media in desired_media(call).values()) >= SMALLEST_MIX


def _is_answered(before: Call, state: Bridged) -> bool:
    """Return whether early media ends: what follows the answer may come from elsewhere."""
    return isinstance(before.state, Dialing) and before.state.bridge == state.bridge


def _in_new_bridge(call: Call, state: Bridged) -> Call:
    call, bridge = allocate_id(call, "b")
    return replace(call, state=replace(state, bridge=bridge))
