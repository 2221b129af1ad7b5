"""Builders of timelines for tests."""

from typing import Any

from msgspec.structs import replace

from base.timeline.timers import Moment
from tests.harness.cli.inbound import read_call
from tests.harness.timelines import timeline_of
from wire.views import Timeline

LIVE = replace(read_call().call, ended_ms=0, created_ms=1000)
Step = tuple[dict[str, Any], list[dict[str, Any]], str]
CALLS = {"type": "originate", "leg": "l0", "party": "+1555", "caller_id": ""}
OPENED: Step = ({"type": "call-opened"}, [CALLS], "starting")


def story(*moments: Step) -> Timeline:
    """Return the timeline of a live call from events, commands and states."""
    result = (
        Moment(1000 + place, event, tuple(commands), state)
        for place, (event, commands, state) in enumerate(moments)
    )
    return timeline_of(LIVE, result)


def started(verb: dict[str, Any], state: str, *commands: dict[str, Any]) -> Timeline:
    """Return the timeline of a call whose verb starts at the answer."""
    event = {"type": "leg-answered", "leg": "l0"}
    return timeline_of(LIVE, [Moment(1000, event, commands, state, verb)])


def words(expected: Timeline) -> list[str]:
    """Return the texts of the rows."""
    return [row.text for row in expected.rows if row.text]


def bridged(found: Timeline) -> list[set[str]]:
    """Return the legs that are bridged after each row."""
    legs, after = set[str](), list[set[str]]()
    for row in found.rows:
        legs -= {each.lifeline for each in row.ends if each.kind == "bridge"}
        legs |= {each.lifeline for each in row.begins if each.kind == "bridge"}
        after.append(set(legs))
    return after


def joins(*legs: str, bridge: str = "b1") -> dict[str, Any]:
    """Make the command that joins legs."""
    return {"type": "add-to-bridge", "bridge": bridge, "legs": list(legs)}


def states(kind: str, state: str, **more: str) -> dict[str, Any]:
    """Make the command that reports a session's state."""
    return {
        "type": "emit-event",
        "event": {"event": kind, "sessionId": "t1", "sessionState": state, **more},
    }
