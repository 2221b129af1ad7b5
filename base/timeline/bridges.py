"""Rows for commands that bridge, mute and snoop on legs."""

from collections.abc import Mapping
from typing import Any

from base.timeline import wording
from base.timeline.state import ENGINE, TimelineState, arrow, mark
from wire.views import TimelineRow


def bridge_row(command: Mapping[str, Any], state: TimelineState) -> TimelineRow | None:
    """Return the row of a bridge, mute or snoop command; None for others."""
    match command:
        case {"type": "add-to-bridge", "bridge": bridge, "legs": legs}:
            return _joined(bridge, tuple(legs), state)
        case {"type": "remove-from-bridge", "bridge": bridge, "leg": leg}:
            return _left(bridge, leg, state)
        case {"type": "destroy-bridge", "bridge": bridge}:
            state.leave(*state.bridges.get(bridge, ()))
            state.bridges.pop(bridge, None)
            is_for_coach = bridge.removesuffix("b") in state.snoops.keys() - state.listeners
            return mark("coaching ended" if is_for_coach else "bridge destroyed", kind="faint")
        case {"type": "mute", "leg": leg, "direction": direction}:
            text = f"muted ({wording.mute_direction(direction)})"
            state.begin(leg, "mute", text)
            return arrow(text, ENGINE, leg, "sound")
        case {"type": "unmute", "leg": leg, "direction": direction}:
            state.end(leg, "mute")
            return arrow(f"unmuted ({wording.mute_direction(direction)})", ENGINE, leg, "sound")
        case {"type": "snoop", "snoop": snoop, "leg": leg}:
            state.snoops[snoop] = leg
            state.begin_leg(snoop, f"snoop on {state.name(leg)}")
            return arrow(f"snoops on {state.name(leg)}", ENGINE, snoop)
        case {"type": "listen", "snoop": snoop, "leg": leg}:
            state.snoops[snoop] = leg
            state.listeners.add(snoop)
            state.begin_leg(snoop, f"fork of {state.name(leg)}")
            return arrow(f"listens to {state.name(leg)}", ENGINE, snoop)
        case {"type": "hangup", "leg": snoop} if snoop in state.snoops:
            return snoop_ended_row(snoop, state)
        case _:
            return None


def snoop_ended_row(snoop: str, state: TimelineState) -> TimelineRow | None:
    """Return the row for the end of a snoop, once."""
    if snoop in state.ended:
        return None
    state.ended.add(snoop)
    state.leave(snoop)
    state.end_all(snoop)
    return arrow("snoop ended", ENGINE, snoop)


def _joined(bridge: str, legs: tuple[str, ...], state: TimelineState) -> TimelineRow:
    before = state.bridges.get(bridge, ())
    state.join(bridge, legs)
    members = state.bridges[bridge]
    if listener := next((leg for leg in members if leg in state.listeners), ""):
        hearer = next((state.recognizers[leg] for leg in members if leg in state.recognizers), "")
        text = f"forked: {hearer or 'a bot'} hears {state.name(state.snoops[listener])}"
    elif coached := next((state.snoops[leg] for leg in members if leg in state.snoops), ""):
        coaches = tuple(leg for leg in members if leg not in state.snoops)
        text = f"coaching: only {state.name(coached)} hears {state.names(coaches or members)}"
    elif len(members) == 1:
        text = f"bridged: {state.names(members)} alone"
    elif before:
        text = f"bridged: {state.names(members)} ({state.names(legs)} joined)"
    else:
        text = f"bridged: {state.names(members)}"
    if len(members) == 1:
        return mark(text, members[0], "success")
    return arrow(text, members[0], members[0], "success", joined=members)


def _left(bridge: str, leg: str, state: TimelineState) -> TimelineRow:
    state.leave(leg)
    rest = state.bridges.get(bridge, ())
    match len(rest):
        case 0:
            text = "removed from bridge"
        case 1:
            text = f"removed from bridge: {state.names(rest)} remains alone"
        case _:
            text = f"removed from bridge: {state.names(rest)} remain"
    return arrow(text, ENGINE, leg)
