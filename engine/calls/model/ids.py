"""Ids that say whose they are: a call's id names its slot and its node (design section 4)."""

import re
import zlib

CALL_ID = re.compile(
    r"(?P<slot>0|[1-9][0-9]{0,2})-(?P<node>[a-z0-9]{1,16})-(?P<tail>[A-Za-z0-9_]{8,64})"
)


def call_id(slot: int, node: str, tail: str) -> str:
    """Make a call's id; the tail is ours (sortable by time) or chosen by the caller."""
    return f"{slot}-{node}-{tail}"


def slot_and_node(call: str) -> tuple[int, str] | None:
    """Tell where a call lives; None when this is no id of a call."""
    match = CALL_ID.fullmatch(call)
    return (int(match["slot"]), match["node"]) if match else None


def call_of(channel: str) -> str | None:
    """Tell whose channel, bridge or playback an id names; None when it is not one of ours."""
    call = channel.rpartition(".")[0]
    return call if CALL_ID.fullmatch(call) else None


def slot_of(key: str, slots: int) -> int:
    """Give the slot that a name falls to, the same in every engine."""
    return zlib.crc32(key.encode()) % slots
