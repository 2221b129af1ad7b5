"""The states that transfers, conferences and their members come to, one row a state."""

from collections.abc import Mapping
from typing import Any

from engine.cli.row import Kind, Row, Seen

_GOOD = {"answered", "completed", "blind_transferred", "connected", "in-progress"}
_BAD = {"failed", "abandoned"}


def state(told: Mapping[str, Any], seen: Seen) -> Row | None:
    """Tell a session's new state; None for what tells of something else."""
    match told:
        case {"event": "transfer", "sessionId": session}:
            begins = session not in seen.states
            who = f" to {told.get('party', '')}" if begins else ""
            return _mark(f"transfer{who}", session, told, seen)
        case {"event": "conference", "sessionId": session}:
            return _mark("conference", session, told, seen)
        case {"event": "conference-member", "sessionId": session, "channelId": leg}:
            row = _mark(f"member {seen.name(leg)}", f"{session} {leg}", told, seen)
            return Row(row.text, leg, shape="mark", kind=row.kind)
        case _:
            return None


def _mark(what: str, key: str, told: Mapping[str, Any], seen: Seen) -> Row:
    state, mode = told["sessionState"], told.get("mode", "")
    now = f"{state} ({mode})" if mode else state
    before = seen.states.get(key, "")
    seen.states[key] = now
    text = f"{before} → {now}" if before else now
    if reason := told.get("reason"):
        text = f"{text}: {reason}"
    kind: Kind = "good" if state in _GOOD else "bad" if state in _BAD else "plain"
    return Row(f"{what}: {text}", shape="mark", kind=kind)
