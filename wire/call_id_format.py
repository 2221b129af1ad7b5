"""Ids of calls and their channels; a call's id contains its slot and its PBX node."""

import re

from wire.shard import ShardId

CALL_ID = re.compile(
    r"(?P<slot>0|[1-9][0-9]{0,2})-(?P<node>[a-z0-9]{1,16})-(?P<tail>[A-Za-z0-9_]{8,64})"
)
_MIXED_BRIDGE = re.compile(r"\.m[0-9]+\Z")


def call_id(shard: ShardId, tail: str) -> str:
    """Return a call's id; the tail is generated (sortable by time) or chosen by the client."""
    return f"{shard.slot}-{shard.node}-{tail}"


def shard_of(call: str) -> ShardId | None:
    """Return a call's shard; None when this is no call id."""
    match = CALL_ID.fullmatch(call)
    return ShardId(match["node"], int(match["slot"])) if match else None


def call_of(channel: str) -> str | None:
    """Return the call that a channel, bridge or playback belongs to; None when it is not ours."""
    call = channel.rpartition(".")[0]
    return call if CALL_ID.fullmatch(call) else None


def other_half(leg: str) -> str:
    """Return the id of the second channel of a Local channel, whose first one is a leg.

    It belongs to another call, whose leg it becomes: so `call_of` finds none.
    """
    return f"{leg}.other"


def mixed_bridge(bridge: str) -> str:
    """Return the id of the bridge that always mixes and takes the place of another one."""
    head, _, number = bridge.rpartition(".b")
    return f"{head}.m{number}"


def is_mixed_bridge(bridge: str) -> bool:
    """Return whether a bridge always mixes (`media.bridge_choice`)."""
    return _MIXED_BRIDGE.search(bridge) is not None
