"""Recording a conversation: which leg's tape runs when, and where it is filed in the end."""

import pytest

from engine.calls.model.commands import ArchiveRecordings, StartRecording, StopRecording
from engine.calls.model.events import (
    CallOpened,
    LegAnswered,
    LegCreated,
    LegEnded,
    RecordingsArchived,
)
from engine.calls.model.requests import TransferCompletionRequested, TransferRequested
from engine.calls.model.state import ArchivingRecordings, Dialing
from tests.unit.calls.harness.builders import CHANNEL, ID, MAIN, NOW, Story, called, inbound, say
from tests.unit.calls.harness.recordings import ARCHIVE, URL, over, recorded, tapes


def test_a_recording_begins_when_the_main_leg_answers() -> None:
    """While it rings nothing is recorded; the tape's name says whose it is and when it began."""
    story = Story(inbound(say(), recording_destination=ARCHIVE, recording_enabled=True))
    story.take(CallOpened())
    assert tapes(story) == []
    story.take(LegAnswered(CHANNEL), 70)
    name = f"acme~2026-11-21~{ID}.k1~{NOW + 70}~{CHANNEL}"
    assert tapes(story) == [StartRecording(CHANNEL, name)]


def test_a_call_that_is_not_to_be_recorded_is_not() -> None:
    """Without recordCall there is no tape, and no address in the end."""
    story = called(say(), recording_destination=ARCHIVE)
    story.hang_up()
    assert tapes(story) == []
    assert (story.state, story.told[-1].recording_url) == ("ended", None)


def test_a_call_that_is_never_answered_has_no_recording() -> None:
    """Nothing to file: its end is told at once."""
    story = Story(inbound(say(), recording_destination=ARCHIVE, recording_enabled=True))
    story.take(CallOpened())
    story.hang_up()
    assert (story.state, tapes(story)) == ("ended", [])


def test_the_end_tells_where_the_recording_is() -> None:
    """The call waits for its recording to be filed; then its end is told, with its length."""
    story = recorded()
    name = story.wanted(StartRecording)[0].name
    story.hang_up()
    assert story.state == "archiving-recordings"
    assert story.wanted(ArchiveRecordings) == [ArchiveRecordings(f"{ID}.r3", (name,))]
    assert story.told[-1].event != "completed"
    story.take(RecordingsArchived(f"{ID}.r3", 4_200), 50)
    end = story.told[-1]
    assert (story.state, end.event) == ("ended", "completed")
    assert (end.recording_url, end.recording_purpose, end.recording_duration) == (URL, "call", 4)
    assert end.duration == 0, "the time to file it is not the call's"


@pytest.mark.parametrize("fault", ["archive: no route", "pbx: status 500", "busy: x"])
def test_what_can_not_be_filed_now_is_promised(fault: str) -> None:
    """Its address is told without a length: it will be filed there."""
    story = recorded()
    over(story, 0, fault)
    end = story.told[-1]
    assert (story.state, end.recording_url, end.recording_duration) == ("ended", URL, None)


def test_what_takes_too_long_to_file_is_promised() -> None:
    """A call does not wait for ever."""
    story = recorded()
    story.hang_up()
    story.due()
    assert (story.state, story.told[-1].recording_url) == ("ended", URL)
    assert story.now == story.call.ended_ms + 10_000


def test_a_recording_that_is_nowhere_is_not_promised() -> None:
    """The PBX has no tape: no address is told."""
    story = recorded()
    over(story, 0, "lost")
    assert (story.state, story.told[-1].recording_url) == ("ended", None)


def test_a_message_that_is_nowhere_does_not_end_the_wait_for_the_conversation() -> None:
    """Who hung up before either began is promised neither."""
    story = recorded({"type": "record", "data": {"beep": False}})
    story.hang_up()
    first, second = story.wanted(ArchiveRecordings)
    story.take(RecordingsArchived(first.request, fault="lost"))
    assert story.state == "archiving-recordings"
    story.take(RecordingsArchived(second.request, fault="lost"))
    assert (story.state, story.told[-1].recording_url) == ("ended", None)


def test_a_lost_leg_is_not_waited_for() -> None:
    """Its PBX is away, so nothing can be filed now; it will be when that is back."""
    story = recorded()
    story.take(LegEnded(MAIN, 0), 100)
    assert (story.state, story.told[-1].recording_url) == ("ended", URL)


def test_a_node_that_is_given_up_ends_the_wait() -> None:
    """A call whose legs have gone waits for nothing from a PBX that is lost."""
    story = recorded()
    story.hang_up()
    story.take(LegEnded(MAIN, 0), 100)
    assert (story.state, story.told[-1].recording_url) == ("ended", URL)


def test_a_hangup_while_filing_changes_nothing() -> None:
    """Its legs have gone already."""
    story = recorded()
    story.hang_up()
    assert story.hang_up() == ()
    assert isinstance(story.call.state, ArchivingRecordings)


def test_the_recording_goes_with_the_call_when_it_is_transferred() -> None:
    """When the tree passes to another leg, its tape ends and one begins there."""
    story = recorded({"type": "dial", "data": {"number": "+4722222222"}})
    far = story.state_as(Dialing).legs[0]
    story.take(LegAnswered(far), 2_000)
    transfer = TransferRequested("attended", MAIN, far, "+4733333333")
    story.take(transfer, 1_000)
    target = story.call.transfers[-1].target
    story.take(LegCreated(target), 10)
    story.take(LegAnswered(target), 1_000)
    assert len(story.wanted(StartRecording)) == 1, "the source is recorded until it goes"
    session = story.call.transfers[-1].id
    story.take(TransferCompletionRequested(session, "7", "manual_complete"), 1_000)
    first, second = story.wanted(StartRecording)
    assert (first.leg, second.leg) == (MAIN, far)
    assert tapes(story) == [first, StopRecording(MAIN, first.name), second]
    story.take(LegEnded(MAIN, 16), 10)
    assert len(tapes(story)) == 3, "nothing is left to be stopped on it"
