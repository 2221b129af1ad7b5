"""Recordings and snoops restart when their leg hears another party, or a phone that held."""

import pytest
from msgspec.structs import replace

from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import (
    ArchiveRecordings,
    Hangup,
    Snoop,
    StartRecording,
    StopRecording,
)
from engine.calls.model.events import (
    LegAnswered,
    LegCreated,
    LegEnded,
    LegHeldByPhone,
    LegResumedByPhone,
)
from engine.calls.model.requests import AddMemberRequested
from tests.harness.calls.builders import MAIN, Story, bridged_call, dialing_call
from tests.harness.calls.control import (
    BOB,
    CAROL,
    PEER,
    SNOOP,
    coach,
    coaching,
    conference,
    hold,
    progress,
    transfer,
    transfer_to,
    unhold,
)
from tests.harness.calls.dials import FIRST
from tests.harness.calls.recordings import ARCHIVE, recording_commands, request_recording

PAUSE_MS = 100


def recorded_conversation() -> Story:
    """Return a conversation of main and Bob whose recording has begun."""
    story = bridged_call(BOB)
    story.call = replace(story.call, recording_destination=ARCHIVE)
    request_recording(story, "start")
    return story


def transfer_main(story: Story) -> None:
    """Transfer main from Bob to Carol, who answers after 1.5 s."""
    story.take(transfer_to(mode="blind"), 10_000)
    progress(story, transfer(story).target, "answered")


def test_a_recording_of_the_next_party() -> None:
    """The recording continues in a new part; the archive fills the pause with silence."""
    story = recorded_conversation()
    (first,) = story.commands_of(StartRecording)
    transfer_main(story)
    assert recording_commands(story)[1:] == [StopRecording(MAIN, first.name)]
    answered_ms = story.now
    story.pass_deadline()
    assert story.now == answered_ms + PAUSE_MS
    second = story.commands_of(StartRecording)[-1]
    assert second.name != first.name
    story.hang_up()
    for leg in (PEER, transfer(story).target):
        story.take(LegEnded(leg, NORMAL), 10)
    assert story.commands_of(ArchiveRecordings)[0].names == (first.name, second.name)


def test_a_recording_of_the_same_party() -> None:
    """A hold by request changes nothing: its packets continue to count."""
    story = recorded_conversation()
    story.take(hold(PEER), 1_000)
    story.take(unhold(PEER), 1_000)
    assert len(recording_commands(story)) == 1


@pytest.mark.parametrize("leg", [MAIN, PEER])
def test_a_phone_that_resumes(leg: str) -> None:
    """Phones may restart their packet numbers after a hold."""
    story = recorded_conversation()
    story.take(LegHeldByPhone(leg), 1_000)
    assert len(recording_commands(story)) == 1
    story.take(LegResumedByPhone(leg), 1_000)
    story.pass_deadline()
    kinds = [type(each) for each in recording_commands(story)]
    assert kinds == [StartRecording, StopRecording, StartRecording]


def test_early_media() -> None:
    """What follows the answer may come from elsewhere than the early media."""
    story = dialing_call(data={"number": BOB, "earlyMedia": True})
    story.call = replace(story.call, recording_destination=ARCHIVE)
    request_recording(story, "start")
    story.take(LegCreated(FIRST), 5)
    assert len(recording_commands(story)) == 1
    story.take(LegAnswered(FIRST), 2_000)
    assert [type(each) for each in recording_commands(story)] == [StartRecording, StopRecording]


def test_a_paused_recording() -> None:
    """It restarts at the resume, so that nothing of the pause is heard."""
    story = recorded_conversation()
    request_recording(story, "pause")
    transfer_main(story)
    story.pass_deadline()
    assert len(story.commands_of(StartRecording)) == 1
    request_recording(story, "resume")
    assert len(story.commands_of(StartRecording)) == 2


def test_a_recording_and_a_snoop_on_the_same_leg() -> None:
    """Both end, and both begin after the same pause: either would keep the other one deaf."""
    story = recorded_conversation()
    story.take(AddMemberRequested(CAROL, "7"), 1_000)
    carol = progress(story, story.call.legs[-1].id, "answered").call.legs[-1].id
    story.take(coach(carol, MAIN, conference(story).id))
    assert len(story.commands_of(StopRecording)) == 1, "main has heard both, and now hears one"
    assert {type(each) for each in story.pass_deadline()} >= {Snoop, StartRecording}
    (first,) = story.commands_of(Snoop)
    story.take(LegCreated(first.snoop), 5)
    assert len(story.commands_of(StopRecording)) == 1
    story.take(LegHeldByPhone(PEER), 1_000)
    assert Hangup(first.snoop, NORMAL) in story.commands
    assert len(story.commands_of(StopRecording)) == 2, "main hears its coach now"
    story.take(LegEnded(first.snoop, NORMAL), 10)
    resumed = story.take(LegResumedByPhone(PEER), 20)
    assert not any(isinstance(each, Snoop | StartRecording) for each in resumed)
    assert {type(each) for each in story.pass_deadline()} >= {Snoop, StartRecording}


def test_a_recording_after_a_conference() -> None:
    """The packets of a mix have number 0, after which those of a party may be late."""
    story = recorded_conversation()
    story.take(AddMemberRequested(CAROL, "7"), 1_000)
    carol = progress(story, story.call.legs[-1].id, "answered").call.legs[-1].id
    assert len(recording_commands(story)) == 1
    story.take(LegEnded(carol, NORMAL), 1_000)
    story.pass_deadline()
    kinds = [type(each) for each in recording_commands(story)]
    assert kinds == [StartRecording, StopRecording, StartRecording]


def test_a_snoop_after_a_conference() -> None:
    """The same for the snoop of a leg that has heard two others."""
    story = coaching()
    story.take(AddMemberRequested("+4788888888", "7"), 1_000)
    fourth = progress(story, story.call.legs[-1].id, "answered").call.legs[-1].id
    assert Hangup(SNOOP, NORMAL) in story.take(LegEnded(fourth, NORMAL), 1_000)
    story.take(LegEnded(SNOOP, NORMAL), 10)
    assert Snoop in map(type, story.pass_deadline())


def test_a_coached_phone_that_holds() -> None:
    """It hears no party, so its snoop stays."""
    story = coaching()
    assert Hangup(SNOOP, NORMAL) not in story.take(LegHeldByPhone(PEER), 10)
