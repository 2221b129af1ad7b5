"""Who a call has joined with whom, and who is heard: its deeds of that kind, one row each."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.row import ENGINE, Row, TimelineState


def bridge_row(command: Mapping[str, Any], seen: TimelineState) -> Row | None:
    """Tell a command that moves or silences a leg; None for others."""
    match command:
        case {"type": "add-to-bridge", "bridge": bridge, "legs": legs}:
            return _joined(bridge, tuple(legs), seen)
        case {"type": "remove-from-bridge", "bridge": bridge, "leg": leg}:
            return _left(bridge, leg, seen)
        case {"type": "destroy-bridge", "bridge": bridge}:
            seen.bridges.pop(bridge, None)
            what = "coaching" if _is_of_coach(bridge, seen) else "talking"
            return Row(f"{what} has ended", shape="join", kind="faint")
        case {"type": "mute", "leg": leg, "direction": direction}:
            return Row(f"muted: {wording.mute_direction(direction)}", ENGINE, leg, kind="sound")
        case {"type": "unmute", "leg": leg, "direction": direction}:
            return Row(f"mute ends: {wording.unmuted(direction)}", ENGINE, leg, kind="sound")
        case {"type": "snoop", "snoop": snoop, "leg": leg}:
            seen.snoops[snoop] = leg
            text = f"listens in on {seen.name(leg)}"
            return Row(text, ENGINE, snoop, opens=snoop, label=f"snoop on {seen.name(leg)}")
        case {"type": "hangup", "leg": snoop} if snoop in seen.snoops:
            return snoop_ended_row(snoop, seen)
        case _:
            return None


def snoop_ended_row(snoop: str, seen: TimelineState) -> Row | None:
    """Tell that a snoop ends, once."""
    if snoop in seen.ended:
        return None
    seen.ended.add(snoop)
    seen.leave(snoop)
    return Row("listens in no more", ENGINE, snoop, closes=snoop)


def _joined(bridge: str, legs: tuple[str, ...], seen: TimelineState) -> Row:
    before = seen.bridges.get(bridge, ())
    seen.join(bridge, legs)
    there = seen.bridges[bridge]
    if coached := next((seen.snoops[leg] for leg in there if leg in seen.snoops), ""):
        coaches = tuple(leg for leg in there if leg not in seen.snoops)
        text = f"coaching: {seen.names(coaches or there)} is heard by {seen.name(coached)} alone"
    elif len(there) == 1:
        text = f"talking: {seen.names(there)} is alone"
    elif before:
        joins = "joins" if len(legs) == 1 else "join"
        text = f"{seen.names(legs)} {joins}: {seen.names(there)} hear each other"
    else:
        text = f"talking: {seen.names(there)} hear each other"
    if len(there) == 1:
        return Row(text, there[0], shape="mark", kind="good")
    return Row(text, shape="join", kind="good", joined=there)


def _left(bridge: str, leg: str, seen: TimelineState) -> Row:
    seen.leave(leg)
    rest = seen.bridges.get(bridge, ())
    match len(rest):
        case 0:
            text = "is taken out of the conversation"
        case 1:
            text = f"is taken out: {seen.names(rest)} is alone"
        case _:
            text = f"is taken out: {seen.names(rest)} talk on"
    return Row(text, ENGINE, leg)


def _is_of_coach(bridge: str, seen: TimelineState) -> bool:
    return bridge.removesuffix("b") in seen.snoops
