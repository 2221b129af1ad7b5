"""A recording that is steered by requests: started, paused, resumed, stopped, or refused."""

from engine.calls.model.commands import (
    ArchiveRecordings,
    MuteRecording,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import CallOpened, LegAnswered
from engine.calls.model.requests import RecordingAction, RecordingRequested
from engine.calls.sessions.preconditions import check_request
from tests.unit.calls.harness.builders import CHANNEL, MAIN, Story, called, inbound, say
from tests.unit.calls.harness.recordings import ARCHIVE, URL, over, recorded, steer, tapes


def test_a_recording_is_paused_and_resumed() -> None:
    """The tape runs on in silence; twice is once; each is told."""
    story = recorded()
    steer(story, "pause", "pause", "resume", "resume")
    assert tapes(story)[1:] == [MuteRecording(MAIN, True), MuteRecording(MAIN, False)]
    told = [each.event for each in story.told if each.event.startswith("recording")]
    assert told == ["recording-paused", "recording-resumed"]


def test_a_recording_that_is_started_and_stopped_by_hand() -> None:
    """Start begins a tape, stop ends it, another start begins another; all become one recording."""
    story = called(say(), recording_destination=ARCHIVE)
    steer(story, "start", "start", "stop", "stop", "start")
    first, second = story.wanted(StartRecording)
    assert tapes(story) == [first, StopRecording(MAIN, first.name), second]
    over(story)
    assert story.wanted(ArchiveRecordings)[0].names == (first.name, second.name)
    assert story.told[-1].recording_url == URL


def test_a_pause_before_the_answer_holds() -> None:
    """Who asks for silence beforehand gets a tape that begins silent."""
    story = Story(inbound(say(), recording_destination=ARCHIVE, recording_enabled=True))
    story.take(CallOpened())
    steer(story, "pause")
    story.take(LegAnswered(CHANNEL), 70)
    assert [type(each) for each in tapes(story)] == [StartRecording, MuteRecording]


def test_what_can_not_be_recorded_is_refused() -> None:
    """Without an archive nothing is recorded; what is not recorded can't be paused or stopped."""
    bare, idle = called(say()), called(say(), recording_destination=ARCHIVE)
    wishes: tuple[RecordingAction, ...] = ("start", "pause", "resume", "stop")
    refusals = [check_request(bare.call, RecordingRequested(each)) for each in wishes]
    assert [each.code if each else "" for each in refusals] == ["no_archive"] * 4
    refusals = [check_request(idle.call, RecordingRequested(each)) for each in wishes]
    assert [each.code if each else "" for each in refusals] == ["", *["not_recorded"] * 3]
    steer(idle, "pause")
    assert tapes(idle) == []
