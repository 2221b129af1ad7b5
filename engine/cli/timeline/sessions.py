"""The states that transfers, conferences and their members come to, one row a state."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline.row import Kind, Row, TimelineState

_GOOD = {"answered", "completed", "blind_transferred", "connected", "in-progress"}
_BAD = {"failed", "abandoned"}


def session_row(told: Mapping[str, Any], seen: TimelineState) -> Row | None:
    """Tell a session's new state; None for what tells of something else."""
    match told:
        case {"event": "transfer", "sessionId": session}:
            return _transfer(session, told, seen)
        case {"event": "conference", "sessionId": session}:
            return _mark("conference", session, told, seen)
        case {"event": "conference-member", "sessionId": session, "channelId": leg}:
            row = _mark(f"member {seen.name(leg)}", f"{session} {leg}", told, seen)
            return Row(row.text, leg, shape="mark", kind=row.kind)
        case _:
            return None


def _transfer(session: str, told: Mapping[str, Any], seen: TimelineState) -> Row:
    who = "" if session in seen.session_states else f" to {told.get('party', '')}"
    mode = told.get("mode", "")
    is_new = seen.transfer_modes.get(session) != mode
    seen.transfer_modes[session] = mode
    return _mark(f"transfer{who}", session, told, seen, f" ({mode})" if is_new else "")


def _mark(what: str, key: str, told: Mapping[str, Any], seen: TimelineState, mode: str = "") -> Row:
    state = told["sessionState"]
    before = f"{seen.session_states[key]} → " if key in seen.session_states else ""
    seen.session_states[key] = state
    reason = f": {told['reason']}" if told.get("reason") else ""
    kind: Kind = "good" if state in _GOOD else "bad" if state in _BAD else "plain"
    return Row(f"{what}: {before}{state}{mode}{reason}", shape="mark", kind=kind)
