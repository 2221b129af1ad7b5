"""Timelines of calls as REST returns them, of which a test chooses the moments."""

from typing import Any

import msgspec

from base.timeline.timers import Moment
from tests.harness.timelines import timeline_of
from wire.views import CallView

START_MS = 1_795_000_000_000
CALL = "1-pbx1-1"


def timeline(moments: list[Moment], **call: Any) -> dict[str, Any]:
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
    view = msgspec.convert({"node": "", "slot": 0, **shown}, CallView)
    found = msgspec.to_builtins(timeline_of(view, moments, reader="account"))
    return {**found, "call": shown, "attempts": [], "omitted": 0, "next": ""}


def moment(index: int, event: dict[str, Any], *commands: dict[str, Any]) -> Moment:
    """Return a moment of a timeline."""
    return Moment(START_MS + index * 500, event, commands, "playing")


def long_call(steps: int) -> dict[str, Any]:
    """Return a call with so many steps, the last of which is its end."""
    opened = moment(0, {"type": "call-opened"}, {"type": "answer", "leg": "a"})
    digits = [
        moment(index, {"type": "digit-pressed", "leg": "a", "digit": str(index % 10)})
        for index in range(1, steps - 1)
    ]
    return timeline([opened, *digits])
