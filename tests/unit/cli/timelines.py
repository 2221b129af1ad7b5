"""Builders of timelines for tests."""

from typing import Any

from msgspec.structs import replace

from cli.timeline.timeline import Diagram, build_diagram
from tests.harness.cli.inbound import timeline
from wire.views import Timeline, TimelineEntry

Moment = tuple[dict[str, Any], list[dict[str, Any]], str]
CALLS = {"type": "originate", "leg": "l0", "party": "+1555", "caller_id": ""}
OPENED: Moment = ({"type": "call-opened"}, [CALLS], "starting")


def story(*moments: Moment) -> Diagram:
    """Build the diagram of a live call from events, commands and states."""
    call = replace(timeline().call, ended_ms=0, created_ms=1000)
    result = tuple(
        TimelineEntry(1000 + place, event, tuple(commands), state)
        for place, (event, commands, state) in enumerate(moments)
    )
    return build_diagram(Timeline(call, result))


def started(verb: dict[str, Any], state: str) -> Diagram:
    """Build the diagram of a call whose verb starts at the answer."""
    call = replace(timeline().call, ended_ms=0, created_ms=1000)
    event = {"type": "leg-answered", "leg": "l0"}
    return build_diagram(Timeline(call, (TimelineEntry(1000, event, (), state, verb),)))


def words(expected: Diagram) -> list[str]:
    """Return the texts of the rows."""
    return [row.text for row in expected.rows]


def joins(*legs: str, bridge: str = "b1") -> dict[str, Any]:
    """Make the command that joins legs."""
    return {"type": "add-to-bridge", "bridge": bridge, "legs": list(legs)}


def states(kind: str, state: str, **more: str) -> dict[str, Any]:
    """Make the command that reports a session's state."""
    return {
        "type": "emit-event",
        "event": {"event": kind, "sessionId": "t1", "sessionState": state, **more},
    }
