"""Bridges that always mix: of calls that a Local channel connects (docs/decisions/0008).

Two legs share a bridge without mixing, so the packets of one party after another reach the other
call under their own numbers. There, Debian's Asterisk drops what it takes for late packets
(docs/asterisk.md). Mixed audio has no numbers.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, allocate_id
from engine.calls.model.call_id_format import is_mixed_bridge
from engine.calls.model.call_states import Bridged


def mix_connected_call(call: Call) -> Call:
    """Move a conversation to a bridge that always mixes, once half of a Local channel is in it."""
    state = call.state
    if not isinstance(state, Bridged) or is_mixed_bridge(state.bridge):
        return call
    if not any(leg.is_local_channel and leg.state == "up" for leg in call.legs):
        return call
    call, bridge = allocate_id(call, "m")
    return replace(call, state=replace(state, bridge=bridge))
