"""record: what is heard first, what ends a message, what is told, and where it goes."""

import msgspec
import pytest

from engine.calls.flows.prefetch import BEEP
from engine.calls.model.commands import ArchiveRecordings, Play, StartVoicemail, StopVoicemail
from engine.calls.model.events import DigitPressed, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.state import AwaitingInstructions, Playing
from tests.unit.calls.harness.builders import CLIPS, HTTPS, ID, MAIN, Story, answered_call, say
from tests.unit.calls.harness.voicemails import (
    ARCHIVE,
    archive_voicemail,
    end_voicemail,
    recording_voicemail,
    voicemail_name,
    voicemail_report,
    voicemail_url,
)
from wire.media import Audio, Speech


def test_prompt_and_beep_come_first() -> None:
    """They are played as one; then the recording begins, with what ends it."""
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


def test_what_can_not_be_had_is_passed_over() -> None:
    """Without prompt and beep the message is recorded all the same."""
    story = answered_call(
        {"type": "record", "data": {"audioUrl": HTTPS}}, recording_destination=ARCHIVE
    )
    assert story.commands_of(FetchMedia)[0].sources == (Audio(HTTPS), BEEP)
    story.deliver_media(())
    assert len(story.commands_of(StartVoicemail)) == 1


def test_without_an_archive_nothing_is_recorded() -> None:
    """The tree goes on at once, and says so."""
    story = answered_call({"type": "record", "action": say()})
    assert story.commands_of(StartVoicemail) == []
    assert voicemail_report(story) == ("failed", None, None)
    assert story.state == "playing"


def test_a_key_ends_a_message() -> None:
    """The terminator; any other key is nothing. What follows waits for the file."""
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
def test_a_key_may_be_told_after_the_end(is_first: bool) -> None:
    """Asterisk ends at the key, too: whichever is told first, and however soon it is filed."""
    story = recording_voicemail()
    end_voicemail(story)
    if is_first:
        archive_voicemail(story, after_ms=1)
        assert recorded_not_yet(story)
    story.take(DigitPressed(MAIN, "#", story.now), 5)
    if is_first:
        story.pass_deadline()
    else:
        archive_voicemail(story)
    assert voicemail_report(story)[0] == "terminator"


def recorded_not_yet(story: Story) -> bool:
    """Tell whether nothing was told yet."""
    return all(each.event != "recorded" for each in story.emitted)


def test_silence_ends_a_message() -> None:
    """When no key and no hangup shows within a moment, it was that."""
    story = recording_voicemail()
    end_voicemail(story)
    archive_voicemail(story, after_ms=2)
    story.pass_deadline()
    assert voicemail_report(story)[0] == "silence"
    assert story.now == story.emitted[-1].timestamp


def test_the_longest_time_ends_a_message() -> None:
    """By our own clock; Asterisk's is late."""
    story = recording_voicemail(maxLength=10)
    begun = story.now
    assert story.pass_deadline() == (StopVoicemail(voicemail_name(story)),)
    assert story.now - begun == 10_000
    end_voicemail(story, 5)
    archive_voicemail(story, 10_000)
    assert voicemail_report(story) == ("max-length", voicemail_url(story), "10")


def test_asterisks_own_limit_is_the_longest_time_too() -> None:
    """It comes first where ours could not: while no engine was there."""
    story = recording_voicemail(maxLength=10)
    end_voicemail(story, 11_500)
    archive_voicemail(story, after_ms=250)
    assert voicemail_report(story)[0] == "max-length"


def test_a_message_whose_end_is_not_told_is_filed_with_the_call() -> None:
    """It may still be recorded: nothing is filed that may grow."""
    story = recording_voicemail(maxLength=10)
    story.pass_deadline()
    story.pass_deadline()
    assert voicemail_report(story) == ("max-length", voicemail_url(story), None)
    assert story.commands_of(ArchiveRecordings) == []
    story.hang_up()
    assert story.commands_of(ArchiveRecordings)[0].names == (voicemail_name(story),)


def test_who_hangs_up_has_left_a_message() -> None:
    """It is told at once, and filed while the call ends; nobody waits for the webhook's answer."""
    story = recording_voicemail(HTTPS)
    end_voicemail(story)
    story.hang_up()
    assert voicemail_report(story) == ("hangup", voicemail_url(story), None)
    (asked,) = story.commands_of(SendWebhook)
    assert msgspec.json.decode(asked.body)["reason"] == "hangup"
    assert story.state == "archiving-recordings"
    archive_voicemail(story)
    end = story.emitted[-1]
    assert (end.event, end.recording_purpose, end.recording_url) == (
        "completed",
        "voicemail",
        voicemail_url(story),
    )


def test_an_address_is_told_of_the_message() -> None:
    """Where it is, how long it is, and why it ended."""
    story = recording_voicemail(HTTPS)
    story.press("#")
    end_voicemail(story, 5)
    archive_voicemail(story)
    assert isinstance(story.call.state, AwaitingInstructions)
    (asked,) = story.commands_of(SendWebhook)
    assert msgspec.json.decode(asked.body) == {
        "callId": ID,
        "channelId": MAIN,
        "event": "record",
        "reason": "terminator",
        "recordingUrl": voicemail_url(story),
        "recordingPurpose": "voicemail",
        "duration": 3,
    }


@pytest.mark.parametrize("fault", ["archive: away", "lost"])
def test_what_is_not_filed_now(fault: str) -> None:
    """An archive that is away gets it later, so its address is told; a file that is nowhere not."""
    story = recording_voicemail()
    story.press("#")
    end_voicemail(story, 5)
    archive_voicemail(story, 0, fault)
    url = None if fault == "lost" else voicemail_url(story)
    assert voicemail_report(story) == ("terminator", url, None)


def test_a_message_that_can_not_be_recorded() -> None:
    """The PBX refuses: the tree goes on."""
    story = recording_voicemail()
    end_voicemail(story, 5, failed=True)
    archive_voicemail(story, 0, "lost")
    assert voicemail_report(story) == ("failed", None, None)
    assert story.state == "playing"


def test_filing_that_takes_long_is_not_waited_for() -> None:
    """The caller hears silence meanwhile."""
    story = recording_voicemail()
    story.press("#")
    end_voicemail(story, 5)
    before = story.now
    story.pass_deadline()
    assert voicemail_report(story) == ("terminator", voicemail_url(story), None)
    assert story.now - before == 5_000
