"""Rows for control requests to a call."""

from collections.abc import Mapping
from typing import Any

from cli.timeline import wording
from cli.timeline.row import ENGINE, Row, TimelineState, mark


def request_row(event: Mapping[str, Any], state: TimelineState) -> Row | None:
    """Return the row of a control request; None for other events."""
    match event:
        case {"type": "hangup-requested", "by": by}:
            return mark(f"request by {by}: hang up the call")
        case {"type": "leg-hangup-requested", "leg": leg}:
            return mark(f"request: hang up {state.name(leg)}", leg)
        case {"type": "mute-requested", "leg": leg, "direction": direction}:
            mute = f"mute {state.name(leg)} ({wording.mute_direction(direction)})"
            return _request(None, mute if direction else f"unmute {state.name(leg)}", leg)
        case {"type": "hold-requested", "leg": leg, "held": held}:
            return mark(f"request: {'hold' if held else 'unhold'} {state.name(leg)}", leg)
        case {"type": "dial-requested", "party": party}:
            return mark(f"request: dial {party}")
        case {"type": "recording-requested", "wanted": wanted}:
            return mark(f"request: {wanted} recording")
        case {"type": "leg-held-by-phone", "leg": leg}:
            return mark(f"the phone of {state.name(leg)} holds", leg)
        case {"type": "leg-resumed-by-phone", "leg": leg}:
            return mark(f"the phone of {state.name(leg)} resumes", leg)
        case {"type": "refer-received", "leg": leg}:
            return Row(f"REFER: {_referred(event)}", leg)
        case _:
            return _with_parties(event, state)


def _with_parties(event: Mapping[str, Any], state: TimelineState) -> Row | None:
    match event:
        case {"type": "replacement-arrived", "leg": leg, "replaced": replaced}:
            return Row(f"arrives from another call in place of {state.name(replaced)}", leg)
        case {"type": "leg-replaced", "leg": leg, "replaced": replaced}:
            return Row(f"takes the place of {state.name(replaced)}", leg)
        case {"type": "transfer-requested", "source": source, "customer": customer}:
            who = f"{state.name(customer)} from {state.name(source)} to {event['party']}"
            return _request(event.get("source_agent"), f"transfer {who}, {event['mode']}")
        case {"type": "transfer-completion-requested", "reason": reason}:
            return _request(event.get("by"), f"complete the transfer ({reason})")
        case {"type": "transfer-cancel-requested", "reason": reason}:
            return _request(event.get("by"), f"cancel the transfer ({reason})")
        case {"type": "add-member-requested", "party": party}:
            return _request(event.get("by"), f"add {party} to the conference")
        case {"type": "kick-requested", "leg": leg, "is_leave": is_leave}:
            who = state.name(leg)
            return _request(event.get("by"), f"{who} leaves" if is_leave else f"kick {who}", leg)
        case {"type": "coach-requested", "leg": leg, "coached": coached}:
            action = f"coaches {state.name(coached)}" if coached else "stops coaching"
            return mark(f"request: {state.name(leg)} {action}", leg)
        case _:
            return None


def _request(by: str | None, what: str, leg: str = ENGINE) -> Row:
    return mark(f"request by {by}: {what}" if by else f"request: {what}", leg)


def _referred(event: Mapping[str, Any]) -> str:
    if event.get("replaces"):
        return "transfer the other party to another call (Replaces)"
    return f"transfer the other party to {event.get('party') or 'an invalid target'}"
