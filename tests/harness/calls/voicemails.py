"""Calls that record a voicemail."""

from typing import Any

from engine.calls.model.commands import ArchiveRecordings, StartVoicemail
from engine.calls.model.events import RecordingsArchived, VoicemailEnded
from engine.calls.model.recording import RecordingDestination
from tests.harness.calls.builders import Story, answered_call, say

RECORD: dict[str, Any] = {"type": "record", "data": {"beep": False}}
ARCHIVE = RecordingDestination("s3://calls/", "acme/2026-11-21")
NO_BEEP: dict[str, Any] = {"beep": False}


def recording_voicemail(action: Any = None, **data: Any) -> Story:
    """Return a call that records a voicemail."""
    verb = {"type": "record", "data": {**NO_BEEP, **data}, "action": action or say("thanks")}
    return answered_call(verb, recording_destination=ARCHIVE)


def voicemail_name(story: Story) -> str:
    return story.commands_of(StartVoicemail)[0].name


def end_voicemail(story: Story, after_ms: int = 3_000, *, failed: bool = False) -> None:
    story.take(VoicemailEnded(voicemail_name(story), failed), after_ms)


def archive_voicemail(
    story: Story, duration_ms: int = 2_600, fault: str = "", after_ms: int = 30
) -> None:
    story.take(
        RecordingsArchived(story.commands_of(ArchiveRecordings)[0].request, duration_ms, fault),
        after_ms,
    )


def voicemail_report(story: Story) -> tuple[str | None, ...]:
    """Return what was emitted of the voicemail: reason, URL, length."""
    (event,) = [each for each in story.emitted if each.event == "recorded"]
    length = None if event.recording_duration is None else str(event.recording_duration)
    return event.reason, event.recording_url, length


def voicemail_url(story: Story) -> str:
    return f"s3://calls/acme/2026-11-21/{voicemail_name(story).split('~')[2]}.wav"
