"""Calls to which a message is left."""

from typing import Any

from engine.calls.model.commands import ArchiveRecordings, StartVoicemail
from engine.calls.model.events import RecordingsArchived, VoicemailEnded
from engine.calls.model.recording import RecordingDestination
from tests.unit.calls.harness.builders import Story, called, say

MESSAGE: dict[str, Any] = {"type": "record", "data": {"beep": False}}
ARCHIVE = RecordingDestination("s3://calls/", "acme/2026-11-21")
SILENT: dict[str, Any] = {"beep": False}


def leaving(action: Any = None, **data: Any) -> Story:
    """Make a call in which a message is being left."""
    verb = {"type": "record", "data": {**SILENT, **data}, "action": action or say("thanks")}
    return called(verb, recording_destination=ARCHIVE)


def name_of(story: Story) -> str:
    """Name the message."""
    return story.wanted(StartVoicemail)[0].name


def ended(story: Story, after_ms: int = 3_000, *, failed: bool = False) -> None:
    """Let the PBX tell the message's end."""
    story.take(VoicemailEnded(name_of(story), failed), after_ms)


def filed(story: Story, duration_ms: int = 2_600, fault: str = "", after_ms: int = 30) -> None:
    """Let the message be filed."""
    story.take(
        RecordingsArchived(story.wanted(ArchiveRecordings)[0].request, duration_ms, fault), after_ms
    )


def recorded(story: Story) -> tuple[str | None, ...]:
    """Give what was told of the message: reason, address, length."""
    (told,) = [each for each in story.told if each.event == "recorded"]
    length = None if told.recording_duration is None else str(told.recording_duration)
    return told.reason, told.recording_url, length


def url_of(story: Story) -> str:
    """Give where the message is filed."""
    return f"s3://calls/acme/2026-11-21/{name_of(story).split('~')[2]}.wav"
