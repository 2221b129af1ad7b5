"""Rows for state changes of transfers, conferences and conference members."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline.row import Kind, Row, TimelineState

_SUCCESS_STATES = {"answered", "completed", "blind_transferred", "connected", "in-progress"}
_FAILURE_STATES = {"failed", "abandoned"}


def session_row(event: Mapping[str, Any], state: TimelineState) -> Row | None:
    """Return the row of a session event; None for other events."""
    match event:
        case {"event": "transfer", "sessionId": session}:
            return _transfer(session, event, state)
        case {"event": "conference", "sessionId": session}:
            return _mark("conference", session, event, state)
        case {"event": "conference-member", "sessionId": session, "channelId": leg}:
            row = _mark(f"member {state.name(leg)}", f"{session} {leg}", event, state)
            return Row(row.text, leg, shape="mark", kind=row.kind)
        case _:
            return None


def _transfer(session: str, event: Mapping[str, Any], state: TimelineState) -> Row:
    target = "" if session in state.session_states else f" to {event.get('party', '')}"
    mode = event.get("mode", "")
    is_new = state.transfer_modes.get(session) != mode
    state.transfer_modes[session] = mode
    return _mark(f"transfer{target}", session, event, state, f" ({mode})" if is_new else "")


def _mark(
    what: str, key: str, event: Mapping[str, Any], state: TimelineState, mode: str = ""
) -> Row:
    new = event["sessionState"]
    before = f"{state.session_states[key]} → " if key in state.session_states else ""
    state.session_states[key] = new
    reason = f": {event['reason']}" if event.get("reason") else ""
    kind: Kind = (
        "success" if new in _SUCCESS_STATES else "failure" if new in _FAILURE_STATES else "plain"
    )
    return Row(f"{what}: {before}{new}{mode}{reason}", shape="mark", kind=kind)
