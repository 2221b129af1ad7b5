"""Calls that are recorded, and what they want of who records them."""

from engine.calls.model.commands import ArchiveRecordings, RecordingCommand
from engine.calls.model.events import RecordingsArchived
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.requests import RecordingAction, RecordingRequested
from tests.unit.calls.harness.builders import ID, Story, called, say

ARCHIVE = RecordingDestination("s3://calls/", "acme/2026-11-21")
URL = f"s3://calls/acme/2026-11-21/{ID}.wav"


def recorded(action: object = None) -> Story:
    """Make an answered call that is recorded."""
    return called(action or say(), recording_destination=ARCHIVE, recording_enabled=True)


def tapes(story: Story) -> list[RecordingCommand]:
    """List what was wanted of tapes."""
    return [each for each in story.commands if isinstance(each, RecordingCommand)]


def over(story: Story, duration_ms: int = 4_200, fault: str = "") -> None:
    """End the call, and file its recording."""
    story.hang_up()
    (request,) = [each.request for each in story.wanted(ArchiveRecordings)]
    story.take(RecordingsArchived(request, duration_ms, fault), 30)


def steer(story: Story, *wanted: RecordingAction) -> None:
    """Ask for something over RPC."""
    for each in wanted:
        story.take(RecordingRequested(each), 1_000)
