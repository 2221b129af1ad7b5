"""Timelines of calls as REST returns them, of which a test chooses the moments."""

from typing import Any

START_MS = 1_795_000_000_000
CALL = "1-pbx1-1"


def timeline(moments: list[dict[str, Any]], **call: Any) -> dict[str, Any]:
    """Return what REST returns of a call."""
    shown = {
        "callId": CALL,
        "account": "acme",
        "direction": "inbound",
        "from": "+4799999999",
        "to": "+4721930000",
        "status": "completed",
        "state": "ended",
        "legs": [],
        "createdMs": START_MS,
        "answeredMs": START_MS,
        "endedMs": START_MS + 10_000_000,
        **call,
    }
    return {"call": shown, "moments": moments, "attempts": [], "omitted": 0}


def moment(index: int, event: dict[str, Any], *commands: dict[str, Any]) -> dict[str, Any]:
    """Return a moment of a timeline."""
    at_ms = START_MS + index * 500
    return {"atMs": at_ms, "event": event, "commands": commands, "state": "gathering"}


def long_call(steps: int) -> dict[str, Any]:
    """Return a call with so many steps."""
    opened = moment(0, {"type": "call-opened"}, {"type": "answer", "leg": "a"})
    digits = [
        moment(index, {"type": "digit-pressed", "leg": "a", "digit": str(index % 10)})
        for index in range(1, steps)
    ]
    return timeline([opened, *digits])
