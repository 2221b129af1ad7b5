"""record: its prompt, what ends a voicemail, its report, and its archive."""

import msgspec
import pytest

from engine.calls.model.call_states import AwaitingInstructions, Playing
from engine.calls.model.commands import ArchiveRecordings, Play, StartVoicemail, StopVoicemail
from engine.calls.model.events import DigitPressed, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, Story, answered_call, say
from tests.harness.calls.voicemails import (
    ARCHIVE,
    archive_voicemail,
    end_voicemail,
    recording_voicemail,
    voicemail_name,
    voicemail_report,
    voicemail_url,
)
from wire.media import Audio, Speech
from wire.verbs import BEEP


def test_prompt_and_beep_come_first() -> None:
    """They are one playback; then the recording starts."""
    data = {"text": "Speak now.", "maxLength": 30, "silence": 3, "terminator": "*"}
    story = answered_call({"type": "record", "data": data}, recording_destination=ARCHIVE)
    assert story.commands_of(FetchMedia)[0].sources == (Speech("Speak now."), BEEP)
    story.deliver_media()
    request = story.state_as(Playing).request
    assert story.commands_of(Play)[0].clips == CLIPS
    assert story.commands_of(StartVoicemail) == []
    story.take(PlaybackEnded(request), 4_000)
    (start,) = story.commands_of(StartVoicemail)
    assert (start.leg, start.longest_s, start.silence_s, start.terminator) == (MAIN, 30, 3, "*")
    assert story.state == "recording"


def test_a_failed_prompt_is_skipped() -> None:
    """The voicemail is recorded without prompt and beep."""
    story = answered_call(
        {"type": "record", "data": {"audioUrl": HTTPS}}, recording_destination=ARCHIVE
    )
    assert story.commands_of(FetchMedia)[0].sources == (Audio(HTTPS), BEEP)
    story.deliver_media(())
    assert len(story.commands_of(StartVoicemail)) == 1


def test_without_an_archive_nothing_is_recorded() -> None:
    """The tree continues at once, and the report says so."""
    story = answered_call({"type": "record", "action": say()})
    assert story.commands_of(StartVoicemail) == []
    assert voicemail_report(story) == ("failed", None, None)
    assert story.state == "playing"


def test_the_terminator_ends_a_voicemail() -> None:
    """Other digits do not. The next action waits for the file."""
    story = recording_voicemail()
    assert story.press("1") == ()
    assert story.press("#") == (StopVoicemail(voicemail_name(story)),)
    assert story.press("#") == ()
    end_voicemail(story, 5)
    assert story.state == "recording"
    archive_voicemail(story)
    assert voicemail_report(story) == ("terminator", voicemail_url(story), "3")
    assert story.state == "playing"


@pytest.mark.parametrize("is_first", [True, False])
def test_the_digit_may_be_reported_after_the_end(is_first: bool) -> None:
    """Asterisk ends it by the digit, too: either event may come first."""
    story = recording_voicemail()
    end_voicemail(story)
    if is_first:
        archive_voicemail(story, after_ms=1)
        assert is_not_reported(story)
    story.take(DigitPressed(MAIN, "#", story.now), 5)
    if is_first:
        story.pass_deadline()
    else:
        archive_voicemail(story)
    assert voicemail_report(story)[0] == "terminator"


def is_not_reported(story: Story) -> bool:
    return all(each.event != "recorded" for each in story.emitted)


def test_silence_ends_a_voicemail() -> None:
    """Without a digit or a hangup shortly after the end, the reason is silence."""
    story = recording_voicemail()
    end_voicemail(story)
    archive_voicemail(story, after_ms=2)
    story.pass_deadline()
    assert voicemail_report(story)[0] == "silence"
    assert story.now == story.emitted[-1].timestamp


def test_the_maximum_length_ends_a_voicemail() -> None:
    """The engine's clock ends it; Asterisk's limit is later."""
    story = recording_voicemail(maxLength=10)
    started_ms = story.now
    assert story.pass_deadline() == (StopVoicemail(voicemail_name(story)),)
    assert story.now - started_ms == 10_000
    end_voicemail(story, 5)
    archive_voicemail(story, 10_000)
    assert voicemail_report(story) == ("max-length", voicemail_url(story), "10")


def test_asterisks_limit_is_the_maximum_length() -> None:
    """It comes first while no engine runs."""
    story = recording_voicemail(maxLength=10)
    end_voicemail(story, 11_500)
    archive_voicemail(story, after_ms=250)
    assert voicemail_report(story)[0] == "max-length"


def test_a_voicemail_without_an_end_is_archived_with_the_call() -> None:
    """It may still be recorded, so it is not archived before."""
    story = recording_voicemail(maxLength=10)
    story.pass_deadline()
    story.pass_deadline()
    assert voicemail_report(story) == ("max-length", voicemail_url(story), None)
    assert story.commands_of(ArchiveRecordings) == []
    story.hang_up()
    assert story.commands_of(ArchiveRecordings)[0].names == (voicemail_name(story),)


def test_a_hangup_ends_a_voicemail() -> None:
    """It is reported at once and archived while the call ends; no response is awaited."""
    story = recording_voicemail(HTTPS)
    end_voicemail(story)
    story.hang_up()
    assert voicemail_report(story) == ("hangup", voicemail_url(story), None)
    (webhook,) = story.commands_of(SendWebhook)
    assert msgspec.json.decode(webhook.body)["reason"] == "hangup"
    assert story.state == "archiving-recordings"
    archive_voicemail(story)
    end = story.emitted[-1]
    assert (end.event, end.recording_purpose, end.recording_url) == (
        "completed",
        "voicemail",
        voicemail_url(story),
    )


def test_the_webhook_gets_the_voicemail() -> None:
    """Its URL, its duration, and why it ended."""
    story = recording_voicemail(HTTPS)
    story.press("#")
    end_voicemail(story, 5)
    archive_voicemail(story)
    assert isinstance(story.call.state, AwaitingInstructions)
    (webhook,) = story.commands_of(SendWebhook)
    assert msgspec.json.decode(webhook.body) == {
        "callId": ID,
        "channelId": MAIN,
        "event": "record",
        "reason": "terminator",
        "recordingUrl": voicemail_url(story),
        "recordingPurpose": "voicemail",
        "duration": 3,
    }


@pytest.mark.parametrize("fault", ["archive: away", "lost"])
def test_a_voicemail_that_is_not_archived(fault: str) -> None:
    """A temporary failure is retried later, so its URL is reported; a lost file has none."""
    story = recording_voicemail()
    story.press("#")
    end_voicemail(story, 5)
    archive_voicemail(story, 0, fault)
    url = None if fault == "lost" else voicemail_url(story)
    assert voicemail_report(story) == ("terminator", url, None)


def test_a_voicemail_that_cannot_be_recorded() -> None:
    """The PBX rejects it: the tree continues."""
    story = recording_voicemail()
    end_voicemail(story, 5, failed=True)
    archive_voicemail(story, 0, "lost")
    assert voicemail_report(story) == ("failed", None, None)
    assert story.state == "playing"


def test_the_wait_for_the_archive_is_limited() -> None:
    """The caller hears silence meanwhile."""
    story = recording_voicemail()
    story.press("#")
    end_voicemail(story, 5)
    before = story.now
    story.pass_deadline()
    assert voicemail_report(story) == ("terminator", voicemail_url(story), None)
    assert story.now - before == 5_000
