"""record and other events: outages, holds and conversations."""

from engine.calls.model.call_states import Playing, RecordingVoicemail
from engine.calls.model.commands import (
    AddToBridge,
    ArchiveRecordings,
    StartVoicemail,
    StopHoldMusic,
    StopPlayback,
    StopVoicemail,
)
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, Recovered, VoicemailEnded
from engine.calls.model.requests import DialRequested, HoldRequested
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from engine.calls.sessions.preconditions import check_request
from tests.harness.calls.builders import ID, MAIN, answered_call
from tests.harness.calls.voicemails import (
    ARCHIVE,
    RECORD,
    end_voicemail,
    recording_voicemail,
    voicemail_name,
)


def test_a_hold_is_rejected() -> None:
    """Hold music would be recorded instead of the caller."""
    story = recording_voicemail()
    refusal = check_request(story.call, HoldRequested(MAIN, True))
    assert refusal is not None
    assert refusal.code == "message_being_left"
    assert check_request(story.call, HoldRequested(MAIN, False)) is None


def test_a_conversation_interrupts_a_voicemail() -> None:
    """The voicemail ends and is kept; another one is recorded afterwards."""
    story = recording_voicemail()
    first = voicemail_name(story)
    story.take(DialRequested("+4744444444", 30), 1_000)
    leg = story.call.invited[0]
    story.take(LegCreated(leg), 5)
    assert StopVoicemail(first) in story.take(LegAnswered(leg), 1_000)
    story.take(LegEnded(leg, 16), 5_000)
    assert story.state == "recording"
    story.hang_up()
    second = story.commands_of(StartVoicemail)[1].name
    assert [each.names for each in story.commands_of(ArchiveRecordings)] == [(first,), (second,)]


def test_a_voicemail_is_recovered() -> None:
    """Running, it continues; ended meanwhile, its end is reported; never started, it starts."""
    story = recording_voicemail()
    name, start = voicemail_name(story), story.commands_of(StartVoicemail)[0]
    here = {MAIN: "Up"}
    live = PbxSnapshot(here, voicemails=frozenset({name}))
    assert reconcile(story.call, (start,), live, story.now) == ((), (Recovered(),))
    over = PbxSnapshot(here)
    assert reconcile(story.call, (), over, story.now)[1] == (VoicemailEnded(name), Recovered())
    assert reconcile(story.call, (start,), over, story.now) == ((start,), (Recovered(),))


def test_recovery_restarts_the_wait_for_the_archive() -> None:
    """The outbox archives it again, and the deadline restarts."""
    story = recording_voicemail()
    story.press("#")
    end_voicemail(story, 5)
    story.take(Recovered(), 60_000)
    assert story.state_as(RecordingVoicemail).deadline_ms == story.now + 5_000


def test_a_conversation_stops_the_prompt() -> None:
    """The voicemail starts again with its prompt."""
    story = answered_call(
        {"type": "record", "data": {"text": "Speak now."}}, recording_destination=ARCHIVE
    )
    story.deliver_media()
    request = story.state_as(Playing).request
    story.take(DialRequested("+4744444444", 30), 100)
    leg = story.call.invited[0]
    story.take(LegCreated(leg), 5)
    assert StopPlayback(request) in story.take(LegAnswered(leg), 1_000)


def test_a_party_answers_during_a_voicemail() -> None:
    """The recording stops before the bridge: a leg that is recorded can't be bridged."""
    story = recording_voicemail()
    story.take(DialRequested("+4787654321", 40), 500)
    party = story.call.legs[-1].id
    commands = story.take(LegAnswered(party), 500)
    assert commands[0] == StopVoicemail(voicemail_name(story))
    assert isinstance(commands[1], AddToBridge)


def test_a_voicemail_ends_a_hold() -> None:
    """A held leg is taken off hold when the recording starts."""
    story = answered_call(
        {"type": "dial", "data": {"number": "+4712345678"}, "action": RECORD},
        recording_destination=ARCHIVE,
    )
    story.take(HoldRequested(MAIN, held=True), 100)
    commands = story.take(LegEnded(f"{ID}.l1", 17), 100)
    assert not story.call.legs[0].held
    assert StopHoldMusic(MAIN) in commands
    assert isinstance(commands[-1], StartVoicemail)
