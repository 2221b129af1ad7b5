"""Call recording: which leg is recorded when, and where the recording is archived."""

import pytest

from engine.calls.model.call_states import ArchivingRecordings, Dialing
from engine.calls.model.commands import ArchiveRecordings, StartRecording, StopRecording
from engine.calls.model.events import (
    CallOpened,
    ClockChanged,
    LegAnswered,
    LegCreated,
    LegEnded,
    RecordingsArchived,
)
from engine.calls.model.requests import TransferCompletionRequested, TransferRequested
from tests.harness.calls.builders import (
    CHANNEL,
    ID,
    MAIN,
    NOW,
    Story,
    answered_call,
    inbound,
    say,
)
from tests.harness.calls.call_records import record
from tests.harness.calls.recordings import (
    ARCHIVE,
    URL,
    end_and_archive,
    recorded_call,
    recording_commands,
    request_recording,
)


def test_a_recording_starts_when_the_main_leg_answers() -> None:
    """It does not start while ringing; its name has the account and the start time."""
    story = Story(inbound(say(), recording_destination=ARCHIVE, recording_enabled=True))
    story.take(CallOpened())
    assert recording_commands(story) == []
    story.take(LegAnswered(CHANNEL), 70)
    name = f"acme~2026-11-21~{ID}.k1~70~{CHANNEL}"
    assert recording_commands(story) == [StartRecording(CHANNEL, name)]


def test_a_call_without_recording() -> None:
    """Without recordCall there is no recording, and no URL at the end."""
    story = answered_call(say(), recording_destination=ARCHIVE)
    story.hang_up()
    assert recording_commands(story) == []
    assert (story.state, story.emitted[-1].recording_url) == ("ended", None)


def test_an_unanswered_call_has_no_recording() -> None:
    """Nothing is archived: the completed event is emitted at once."""
    story = Story(inbound(say(), recording_destination=ARCHIVE, recording_enabled=True))
    story.take(CallOpened())
    story.hang_up()
    assert (story.state, recording_commands(story)) == ("ended", [])


def test_the_completed_event_has_the_recording() -> None:
    """The call waits for archiving; then its completed event has the URL and the duration."""
    story = recorded_call()
    name = story.commands_of(StartRecording)[0].name
    story.hang_up()
    assert story.state == "archiving-recordings"
    assert story.commands_of(ArchiveRecordings) == [ArchiveRecordings(f"{ID}.r3", (name,))]
    assert story.emitted[-1].event != "completed"
    story.take(RecordingsArchived(f"{ID}.r3", 4_200), 50)
    end = story.emitted[-1]
    assert (story.state, end.event) == ("ended", "completed")
    assert (end.recording_url, end.recording_purpose, end.recording_duration) == (URL, "call", 4)
    assert end.duration_ms == 100, "the time to file it is not the call's"


@pytest.mark.parametrize("fault", ["archive: no route", "pbx: status 500", "busy: x"])
def test_a_recording_that_cannot_be_archived_now(fault: str) -> None:
    """Its URL is emitted without a duration: it will be archived there."""
    story = recorded_call()
    end_and_archive(story, 0, fault)
    end = story.emitted[-1]
    assert (story.state, end.recording_url, end.recording_duration) == ("ended", URL, None)


def test_archiving_that_takes_too_long() -> None:
    """A call does not wait forever; another hangup changes nothing, as its legs have ended."""
    story = recorded_call()
    story.hang_up()
    assert story.hang_up() == ()
    assert isinstance(story.call.state, ArchivingRecordings)
    story.pass_deadline()
    assert (story.state, story.emitted[-1].recording_url) == ("ended", URL)
    assert story.now == story.call.ended_ms + 10_000


def test_a_lost_recording() -> None:
    """The PBX has no file: no URL is emitted."""
    story = recorded_call()
    end_and_archive(story, 0, "lost")
    assert (story.state, story.emitted[-1].recording_url) == ("ended", None)


def test_a_lost_voicemail_does_not_end_the_wait() -> None:
    """The call still waits for the recording of the conversation."""
    story = recorded_call({"type": "record", "data": {"beep": False}})
    story.hang_up()
    first, second = story.commands_of(ArchiveRecordings)
    story.take(RecordingsArchived(first.request, fault="lost"))
    assert story.state == "archiving-recordings"
    story.take(RecordingsArchived(second.request, fault="lost"))
    assert (story.state, story.emitted[-1].recording_url) == ("ended", None)


def test_archiving_does_not_wait_for_a_lost_leg() -> None:
    """Its PBX is away, so nothing can be archived now; it will be later."""
    story = recorded_call()
    story.take(LegEnded(MAIN, 0), 100)
    assert (story.state, story.emitted[-1].recording_url) == ("ended", URL)
    assert [each.state for each in record(story).recordings] == ["ended"]


def test_a_node_that_is_given_up_ends_the_wait() -> None:
    """A call whose legs have ended does not wait for a PBX that is lost."""
    story = recorded_call()
    story.hang_up()
    story.take(LegEnded(MAIN, 0), 100)
    assert (story.state, story.emitted[-1].recording_url) == ("ended", URL)


def test_the_recording_follows_the_main_leg() -> None:
    """When the main leg changes, its recording ends and another starts."""
    story = recorded_call({"type": "dial", "data": {"number": "+4722222222"}})
    far = story.state_as(Dialing).legs[0]
    story.take(LegAnswered(far), 2_000)
    transfer = TransferRequested("attended", MAIN, far, "+4733333333")
    story.take(transfer, 1_000)
    target = story.call.transfers[-1].target
    story.take(LegCreated(target), 10)
    story.take(LegAnswered(target), 1_000)
    assert len(story.commands_of(StartRecording)) == 1, "the source is recorded until it goes"
    session = story.call.transfers[-1].id
    story.take(TransferCompletionRequested(session, "7", "manual_complete"), 1_000)
    first, second = story.commands_of(StartRecording)
    assert (first.leg, second.leg) == (MAIN, far)
    assert recording_commands(story) == [first, StopRecording(MAIN, first.name), second]
    story.take(LegEnded(MAIN, 16), 10)
    assert len(recording_commands(story)) == 3, "nothing is left to be stopped on it"


def test_a_corrected_clock_moves_no_part() -> None:
    """Names of parts say when they begin in the call, whatever the engine's clock is."""
    names = []
    for by_ms in (0, 14_400_000, -NOW + 1):
        story = answered_call(say(), recording_destination=ARCHIVE)
        request_recording(story, "start", "stop")
        story.now += by_ms
        story.take(ClockChanged(by_ms))
        request_recording(story, "start")
        first, second = (each.name for each in story.commands_of(StartRecording))
        names.append((first, second))
    assert names == [names[0]] * 3
