"""Builders for calls that end, and their records."""

from typing import Any

from engine.calls.model import causes
from engine.calls.model.events import CallOpened, LegAnswered, LegCreated, LegEnded
from tests.harness.calls.builders import CHANNEL, MAIN, Story, inbound
from tests.harness.calls.control import BOB
from tests.harness.record_checks import record_faults
from wire.events.call_events import CallEvent
from wire.events.record import CallRecord

DIALED = MAIN  # the first leg that an inbound call allocates


def answered_inbound_call(action: Any) -> Story:
    """Return an inbound call that is answered after 10 ms."""
    story = Story(inbound(action))
    story.take(CallOpened())
    story.take(LegAnswered(CHANNEL), 10)
    return story


def inbound_conversation(action: Any = None, **data: Any) -> Story:
    """Return an inbound call in a conversation with Bob."""
    dial = {"type": "dial", "data": {"number": BOB, **data}, "action": action}
    story = answered_inbound_call(dial)
    story.take(LegCreated(DIALED), 10)
    story.take(LegAnswered(DIALED), 2_000)
    return story


def completed(story: Story) -> CallEvent:
    """End the remaining legs; return the last event after checking its record."""
    for leg in story.call.legs:
        story.take(LegEnded(leg.id, causes.NORMAL), 10)
    assert not list(record_faults(story.emitted))
    return story.emitted[-1]


def record(story: Story) -> CallRecord:
    """Return the record of a call after its remaining legs have ended."""
    found = completed(story).record
    assert found is not None
    return found
