"""Recordings: what becomes of a call's tapes, one row each."""

from collections.abc import Mapping
from typing import Any

from engine.cli.timeline import wording
from engine.cli.timeline.row import Row, TimelineState


def recording_row(command: Mapping[str, Any], seen: TimelineState) -> Row | None:
    """Tell what was done about a recording; None for other commands."""
    match command:
        case {"type": "start-recording", "leg": leg}:
            text = f"recording: what {seen.name(leg)} says and hears"
            return Row(text, leg, shape="mark", kind="sound")
        case {"type": "mute-recording", "leg": leg, "muted": muted}:
            text = "the recording pauses" if muted else "the recording goes on"
            return Row(text, leg, shape="mark", kind="sound")
        case {"type": "stop-recording", "leg": leg}:
            return Row("the recording stops", leg, shape="mark", kind="sound")
        case {"type": "archive-recordings"}:
            return Row("the recording goes to the archive", shape="mark", kind="faint")
        case _:
            return None


def archived_row(event: Mapping[str, Any]) -> Row:
    """Tell what the archive made of it."""
    match event:
        case {"fault": "lost"}:
            return Row("the recording is lost", shape="mark", kind="bad")
        case {"fault": str(fault)} if fault:
            return Row(f"the recording is not filed yet: {fault}", shape="mark", kind="bad")
        case _:
            length = wording.seconds(event.get("duration_ms", 0))
            return Row(f"the recording is filed: {length}", shape="mark")
