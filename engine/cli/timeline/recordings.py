"""Rows for the recording of a call."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.row import Row, TimelineState


def recording_row(command: Mapping[str, Any], state: TimelineState) -> Row | None:
    """Return the row of a recording command; None for others."""
    match command:
        case {"type": "start-recording", "leg": leg}:
            text = f"recording started on {state.name(leg)}"
            return Row(text, leg, shape="mark", kind="sound")
        case {"type": "mute-recording", "leg": leg, "muted": muted}:
            text = "recording paused" if muted else "recording resumed"
            return Row(text, leg, shape="mark", kind="sound")
        case {"type": "stop-recording", "leg": leg}:
            return Row("recording stopped", leg, shape="mark", kind="sound")
        case {"type": "archive-recordings"}:
            return Row("archiving the recording", shape="mark", kind="faint")
        case _:
            return None


def archived_row(event: Mapping[str, Any]) -> Row:
    match event:
        case {"fault": "lost"}:
            return Row("recording lost", shape="mark", kind="failure")
        case {"fault": str(fault)} if fault:
            return Row(f"recording not archived yet: {fault}", shape="mark", kind="failure")
        case _:
            length = wording.seconds(event.get("duration_ms", 0))
            return Row(f"recording archived: {length}", shape="mark")
