"""Recording by request: started, paused, resumed, stopped, or rejected."""

from msgspec.structs import replace

from engine.calls.media.call_recording import MAX_RECORDINGS
from engine.calls.model.commands import (
    ArchiveRecordings,
    MuteRecording,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import (
    CallOpened,
    DeadlinePassed,
    LegAnswered,
    LegHeldByPhone,
    LegResumedByPhone,
)
from engine.calls.model.requests import RecordingAction, RecordingRequested
from engine.calls.sessions.preconditions import check_request
from tests.harness.calls.builders import (
    CHANNEL,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    inbound,
    say,
)
from tests.harness.calls.recordings import (
    ARCHIVE,
    URL,
    end_and_archive,
    recorded_call,
    recording_commands,
    request_recording,
)


def test_a_recording_is_paused_and_resumed() -> None:
    """The recording is muted meanwhile; a repeat changes nothing; each emits an event."""
    story = recorded_call()
    request_recording(story, "pause", "pause", "resume", "resume")
    assert recording_commands(story)[1:] == [MuteRecording(MAIN, True), MuteRecording(MAIN, False)]
    events = [each.event for each in story.emitted if each.event.startswith("recording")]
    assert events == ["recording-paused", "recording-resumed"]


def test_a_recording_is_started_and_stopped() -> None:
    """Each start creates a part; all parts become one file."""
    story = answered_call(say(), recording_destination=ARCHIVE)
    request_recording(story, "start", "start", "stop", "stop", "start")
    first, second = story.commands_of(StartRecording)
    assert recording_commands(story) == [first, StopRecording(MAIN, first.name), second]
    end_and_archive(story)
    assert story.commands_of(ArchiveRecordings)[0].names == (first.name, second.name)
    assert story.emitted[-1].recording_url == URL


def test_a_pause_before_the_answer_holds() -> None:
    """After a pause before its start, the recording starts at the resume."""
    story = Story(inbound(say(), recording_destination=ARCHIVE, recording_enabled=True))
    story.take(CallOpened())
    request_recording(story, "pause")
    story.take(LegAnswered(CHANNEL), 70)
    assert recording_commands(story) == []
    request_recording(story, "resume")
    assert [type(each) for each in recording_commands(story)] == [StartRecording]


def test_a_call_has_so_many_recordings() -> None:
    """Each is part of the state, which every step stores: then it is not recorded any more."""
    story = answered_call(say(), recording_destination=ARCHIVE)
    for _ in range(MAX_RECORDINGS):
        request_recording(story, "start", "stop")
    assert len(story.call.recordings) == MAX_RECORDINGS
    rejection = check_request(story.call, RecordingRequested("start"))
    assert rejection is not None
    assert rejection.code == "too_many_recordings"


def test_a_phone_that_holds_without_end_ends_the_recording() -> None:
    """Each hold ends a part; the last one is followed by an event that says why."""
    story = bridged_call("+4722222222")
    story.call = replace(story.call, recording_destination=ARCHIVE, recording_enabled=True)
    for _ in range(MAX_RECORDINGS + 50):
        story.take(LegHeldByPhone(MAIN), 200)
        story.take(LegResumedByPhone(MAIN), 200)
        story.take(DeadlinePassed(), 200)
    assert len(story.call.recordings) == MAX_RECORDINGS
    stopped = [each.reason for each in story.emitted if each.event == "recording-stopped"]
    assert stopped == ["too_many_recordings"]
    assert not story.call.recording_enabled


def test_rejected_recording_requests() -> None:
    """Without an archive nothing is recorded; only a running recording can be paused or stopped."""
    bare, idle = answered_call(say()), answered_call(say(), recording_destination=ARCHIVE)
    actions: tuple[RecordingAction, ...] = ("start", "pause", "resume", "stop")
    rejections = [check_request(bare.call, RecordingRequested(each)) for each in actions]
    assert [each.code if each else "" for each in rejections] == ["no_archive"] * 4
    rejections = [check_request(idle.call, RecordingRequested(each)) for each in actions]
    assert [each.code if each else "" for each in rejections] == ["", *["not_recorded"] * 3]
    request_recording(idle, "pause")
    assert recording_commands(idle) == []
