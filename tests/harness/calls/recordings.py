"""Calls that are recorded, and the commands for their recordings."""

from engine.calls.model.commands import ArchiveRecordings, RecordingCommand
from engine.calls.model.events import RecordingsArchived
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.requests import RecordingAction, RecordingRequested
from tests.harness.calls.builders import ID, Story, answered_call, say

ARCHIVE = RecordingDestination("s3://calls/", "acme/2026-11-21")
URL = f"s3://calls/acme/2026-11-21/{ID}.wav"


def recorded_call(action: object = None) -> Story:
    """Return an answered call that is recorded."""
    return answered_call(action or say(), recording_destination=ARCHIVE, recording_enabled=True)


def recording_commands(story: Story) -> list[RecordingCommand]:
    return [each for each in story.commands if isinstance(each, RecordingCommand)]


def end_and_archive(story: Story, duration_ms: int = 4_200, fault: str = "") -> None:
    """End the call and archive its recording."""
    story.hang_up()
    (request,) = [each.request for each in story.commands_of(ArchiveRecordings)]
    story.take(RecordingsArchived(request, duration_ms, fault), 30)


def request_recording(story: Story, *wanted: RecordingAction) -> None:
    """Send recording requests."""
    for each in wanted:
        story.take(RecordingRequested(each), 1_000)
