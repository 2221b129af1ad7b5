"""Calls that are recorded, and what they want of who records them."""

from engine.calls.model.commands import FileTapes, TapeCommand
from engine.calls.model.events import TapesFiled
from engine.calls.model.recording import Archive
from engine.calls.model.requests import RecordingRequested, Wanted
from tests.unit.calls.harness.builders import ID, Story, called, say

ARCHIVE = Archive("s3://calls/", "acme/2026-11-21")
URL = f"s3://calls/acme/2026-11-21/{ID}.wav"


def recorded(action: object = None) -> Story:
    """Make an answered call that is recorded."""
    return called(action or say(), archive=ARCHIVE, recorded=True)


def tapes(story: Story) -> list[TapeCommand]:
    """List what was wanted of tapes."""
    return [each for each in story.commands if isinstance(each, TapeCommand)]


def over(story: Story, duration_ms: int = 4_200, fault: str = "") -> None:
    """End the call, and file its recording."""
    story.hang_up()
    (request,) = [each.request for each in story.wanted(FileTapes)]
    story.take(TapesFiled(request, duration_ms, fault), 30)


def steer(story: Story, *wanted: Wanted) -> None:
    """Ask for something over RPC."""
    for each in wanted:
        story.take(RecordingRequested(each), 1_000)
