"""What people asked of a call, one row a request."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.row import Row, TimelineState


def request_row(event: Mapping[str, Any], seen: TimelineState) -> Row | None:
    """Tell a request; None for other events."""
    match event:
        case {"type": "hangup-requested", "by": by}:
            return Row(f"the end is asked for by: {by}", shape="mark")
        case {"type": "leg-hangup-requested", "leg": leg}:
            return _on(leg, f"hang up {seen.name(leg)}")
        case {"type": "mute-requested", "leg": leg, "direction": direction}:
            told = f"mute {seen.name(leg)}, {wording.mute_direction(direction)}"
            return _on(leg, told if direction else f"unmute {seen.name(leg)}")
        case {"type": "hold-requested", "leg": leg, "held": held}:
            return _on(leg, f"{'hold' if held else 'unhold'} {seen.name(leg)}")
        case {"type": "dial-requested", "party": party}:
            return Row(f"asked: {party} into the call", shape="mark")
        case {"type": "recording-requested", "wanted": wanted}:
            return Row(f"asked: {wanted} the recording", shape="mark")
        case {"type": "refer-received", "leg": leg}:
            return Row(f"REFER: {_referred(event)}", leg)
        case _:
            return _with_parties(event, seen)


def _with_parties(event: Mapping[str, Any], seen: TimelineState) -> Row | None:
    match event:
        case {"type": "transfer-requested", "source": source, "customer": customer}:
            who = f"{seen.name(customer)} from {seen.name(source)} to {event['party']}"
            return _mark(event.get("source_agent"), f"transfer {who}, {event['mode']}")
        case {"type": "transfer-completion-requested", "reason": reason}:
            return _mark(event.get("by"), f"complete the transfer ({reason})")
        case {"type": "transfer-cancel-requested", "reason": reason}:
            return _mark(event.get("by"), f"cancel the transfer ({reason})")
        case {"type": "add-member-requested", "party": party}:
            return _mark(event.get("by"), f"{party} into the conference")
        case {"type": "kick-requested", "leg": leg, "is_leave": is_leave}:
            who = seen.name(leg)
            return _mark(event.get("by"), f"{who} leaves" if is_leave else f"put {who} out", leg)
        case {"type": "coach-requested", "leg": leg, "coached": coached}:
            told = f"heard by {seen.name(coached)} alone" if coached else "heard by all again"
            return _on(leg, f"{seen.name(leg)} is to be {told}")
        case _:
            return None


def _on(leg: str, what: str) -> Row:
    return Row(f"asked: {what}", leg, shape="mark")


def _mark(by: str | None, what: str, leg: str = "") -> Row:
    text = f"asked by {by}: {what}" if by else f"asked: {what}"
    return Row(text, leg, shape="mark") if leg else Row(text, shape="mark")


def _referred(event: Mapping[str, Any]) -> str:
    if event.get("replaces"):
        return "its other party to another call of its own"
    return f"its other party to {event.get('party') or 'nobody that can be called'}"
