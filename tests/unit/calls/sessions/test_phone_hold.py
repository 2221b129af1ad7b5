"""Hold pressed on a phone: events, hold time, suspended verbs, and who hears music."""

import pytest

from engine.calls.leg_lifecycle import MAX_BEFORE_ANSWER_MS
from engine.calls.model.call import Call
from engine.calls.model.call_states import Dialing, Gathering, Pausing, Playing
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    Play,
    RemoveFromBridge,
    StartHoldMusic,
    StopHoldMusic,
    StopPlayback,
)
from engine.calls.model.events import (
    CallOpened,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegHeldByPhone,
    LegResumedByPhone,
    PlaybackEnded,
)
from engine.calls.reporting.call_record import build_call_record
from engine.calls.sessions.preconditions import check_request
from tests.harness.calls.builders import (
    CHANNEL,
    CLIPS,
    ID,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    inbound,
    say,
)
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    PEER,
    TARGET,
    THIRD,
    bridged_legs,
    cancel,
    coaching,
    complete,
    hold,
    in_conference,
    media_of,
    progress,
    transfer_to,
    transferring,
    unhold,
)
from tests.harness.calls.screenings import CONFIRM, FIRST, deliver_media, screening_call


def test_the_other_party_hears_music() -> None:
    """Both leave the bridge; when the phone resumes, they talk again."""
    story = bridged_call(BOB)
    assert story.take(LegHeldByPhone(PEER), 5_000) == (
        RemoveFromBridge(BRIDGE, MAIN),
        RemoveFromBridge(BRIDGE, PEER),
        StartHoldMusic(MAIN),
    )
    assert story.take(LegResumedByPhone(PEER), 3_000) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN, PEER)),
    )
    events = [(e.event, e.channel_id, e.reason) for e in story.emitted[-2:]]
    assert events == [("leg-held", PEER, "phone"), ("leg-unheld", PEER, "phone")]


def test_its_time_is_hold_and_not_talk() -> None:
    """The call and the leg count it, also when the phone hangs up on hold."""
    story = bridged_call(BOB)
    story.take(LegHeldByPhone(PEER), 5_000)
    story.take(LegResumedByPhone(PEER), 3_000)
    story.take(LegHeldByPhone(PEER), 1_000)
    story.take(LegEnded(PEER, 16), 2_000)
    story.hang_up()
    record = build_call_record(story.call)
    peer = next(each for each in record.legs if each.channel_id == PEER)
    assert (record.hold_ms, peer.hold_ms, peer.talk_ms) == (5_000, 5_000, 6_000)


@pytest.mark.parametrize("event", [LegHeldByPhone(PEER), LegResumedByPhone(MAIN)])
def test_a_repeated_report_changes_nothing(event: LegHeldByPhone | LegResumedByPhone) -> None:
    story = bridged_call(BOB)
    story.take(LegHeldByPhone(PEER))
    before = story.call
    assert story.take(event) == ()
    assert story.call is before


def test_both_phones_hold() -> None:
    """All parties hold, so no party hears music; the first to resume hears it."""
    story = bridged_call(BOB)
    story.take(LegHeldByPhone(PEER))
    assert story.take(LegHeldByPhone(MAIN)) == (StopHoldMusic(MAIN),)
    assert story.take(LegResumedByPhone(PEER)) == (StartHoldMusic(PEER),)


def _verb_is_suspended(call: Call) -> bool:
    assert isinstance(call.state, (Playing, Gathering, Pausing))
    return call.state.suspended


def test_a_prompt_waits_for_the_phone() -> None:
    """It stops, and its rest is played when the phone resumes."""
    story = answered_call(say())
    story.deliver_media()
    playback = story.state_as(Playing).request
    assert story.take(LegHeldByPhone(MAIN), 1_200) == (StopPlayback(playback),)
    (play,) = story.take(LegResumedByPhone(MAIN), 60_000)
    assert play == Play(MAIN, story.state_as(Playing).request, CLIPS, 1_200)


@pytest.mark.parametrize(
    "verb",
    [
        say(),
        {"type": "gather", "data": {"timeout": 3_000}},
        {"type": "pause", "data": {"length": 2}},
    ],
    ids=["say", "gather", "pause"],
)
def test_a_verb_that_starts_while_the_phone_holds_waits(verb: object) -> None:
    """The next verb after the conversation does not pass unheard."""
    story = bridged_call(BOB, action=verb)
    story.take(LegHeldByPhone(MAIN))
    story.take(LegEnded(PEER, 16), 500)
    assert _verb_is_suspended(story.call)
    story.take(LegResumedByPhone(MAIN), 60_000)
    assert not _verb_is_suspended(story.call)


def test_a_caller_that_is_answered_on_hold() -> None:
    """Its hold is reported before its answer, and begins with it; the prompt waits."""
    story = Story(inbound(say()))
    story.take(CallOpened())
    story.take(LegHeldByPhone(CHANNEL), 1_000)
    assert not story.leg(CHANNEL).is_held
    story.take(LegAnswered(CHANNEL), 1)
    assert [e.event for e in story.emitted] == ["initiated", "answered", "leg-held"]
    assert (story.emitted[-1].reason, story.emitted[-1].timestamp) == ("phone", story.now)
    assert _verb_is_suspended(story.call)
    assert story.deliver_media() == ()
    story.take(LegResumedByPhone(CHANNEL), 3_000)
    assert (_verb_is_suspended(story.call), story.call.held_ms) == (False, 3_000)


def test_a_called_party_that_answers_on_hold() -> None:
    """The caller hears music until it resumes; the time is hold, and not talk."""
    story = dialing_call(BOB)
    story.take(LegHeldByPhone(PEER), 1_000)
    assert (media_of(story, MAIN).sound, story.call.held_since_ms) == ("ringing", 0)
    story.take(LegAnswered(PEER), MAX_BEFORE_ANSWER_MS)
    assert (media_of(story, MAIN).sound, bridged_legs(story)) == ("music", set())
    story.take(LegResumedByPhone(PEER), 3_000)
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(LegEnded(PEER, 16), 2_000)
    story.hang_up()
    record = build_call_record(story.call)
    peer = next(each for each in record.legs if each.channel_id == PEER)
    assert (record.hold_ms, peer.hold_ms, peer.talk_ms) == (3_000, 3_000, 2_000)


def test_a_phone_that_resumes_before_its_answer() -> None:
    """There is no hold."""
    story = dialing_call(BOB)
    story.take(LegHeldByPhone(PEER))
    story.take(LegResumedByPhone(PEER), 1)
    story.take(LegAnswered(PEER), 1)
    assert bridged_legs(story) == {MAIN, PEER}
    assert "leg-held" not in [each.event for each in story.emitted]


def test_an_announcement_that_is_sent_only() -> None:
    """Early media may be `sendonly`, and the answer not, which Asterisk does not report."""
    story = dialing_call(data={"number": BOB, "earlyMedia": True})
    story.take(LegCreated(PEER))
    assert bridged_legs(story) == {MAIN, PEER}
    assert story.take(LegHeldByPhone(PEER), 1_000) == ()
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(LegAnswered(PEER), MAX_BEFORE_ANSWER_MS + 1)
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(LegHeldByPhone(PEER), 1_000)
    assert (media_of(story, MAIN).sound, bridged_legs(story)) == ("music", set())


def test_a_phone_on_hold_that_is_not_answered() -> None:
    """It was never on hold."""
    story = dialing_call(BOB)
    story.take(LegHeldByPhone(PEER), 1_000)
    story.take(LegEnded(PEER, 17), 1_000)
    story.hang_up()
    record = build_call_record(story.call)
    assert (record.hold_ms, [each.hold_ms for each in record.legs]) == (0, [0, 0])


def test_a_caller_that_is_answered_after_a_party_on_hold() -> None:
    """The hold time of the call begins with the answer of its caller."""
    story = Story(inbound({"type": "dial", "data": {"number": BOB}}, answer_deferred=True))
    story.take(CallOpened())
    called = f"{ID}.l0"
    story.take(LegHeldByPhone(called), 1_000)
    story.take(LegAnswered(called))
    story.take(LegAnswered(CHANNEL), 100)
    story.take(LegResumedByPhone(called), 2_000)
    assert (story.call.held_ms, story.leg(called).held_ms) == (2_000, 2_100)


def test_a_screened_party_that_answers_on_hold() -> None:
    """Its prompt waits."""
    story = dialing_call(data={"number": BOB, "confirm": {"text": "Press 1"}})
    story.take(LegHeldByPhone(PEER))
    story.take(LegAnswered(PEER), 1)
    (screening,) = story.state_as(Dialing).screenings
    assert isinstance(screening.state, Gathering)
    assert screening.state.suspended


def test_a_screening_waits_for_the_phone() -> None:
    """The prompt of a confirmation stops and resumes; the digit counts afterwards."""
    story = screening_call(**CONFIRM)
    playback = deliver_media(story)
    assert story.take(LegHeldByPhone(FIRST), 500) == (StopPlayback(playback),)
    (play,) = story.take(LegResumedByPhone(FIRST), 30_000)
    assert isinstance(play, Play)
    story.take(PlaybackEnded(play.playback), 3_500)
    assert story.state == "dialing"
    story.press("9", 100)  # on the main leg: it confirms nothing
    assert story.state == "dialing"


def test_a_dial_is_answered_while_the_caller_holds() -> None:
    """The called party hears music until the caller resumes."""
    story = dialing_call(BOB)
    story.take(LegHeldByPhone(MAIN))
    story.take(LegAnswered(PEER), 2_000)
    assert (media_of(story, PEER).sound, bridged_legs(story)) == ("music", set())
    story.take(LegResumedByPhone(MAIN), 2_000)
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_hold_by_request_and_by_phone() -> None:
    """The leg is on hold until both have ended; one event begins it and one ends it."""
    story = bridged_call(BOB)
    story.take(hold(PEER))
    story.take(LegHeldByPhone(PEER), 1_000)
    assert media_of(story, MAIN).sound == "music"
    story.take(unhold(PEER), 1_000)
    assert media_of(story, MAIN).sound == "music"
    story.take(LegResumedByPhone(PEER), 1_000)
    assert bridged_legs(story) == {MAIN, PEER}
    assert [e.event for e in story.emitted[-2:]] == ["leg-held", "leg-unheld"]
    assert story.call.held_ms == 3_000


def test_a_request_can_not_end_a_hold_of_the_phone() -> None:
    """It is rejected: only the phone can resume."""
    story = bridged_call(BOB)
    story.take(LegHeldByPhone(PEER))
    rejection = check_request(story.call, unhold(PEER))
    assert rejection is not None
    assert (rejection.kind, rejection.code) == ("conflict", "held_by_phone")
    assert check_request(story.call, hold(PEER)) is None


def test_unholding_the_customer_while_the_agents_phone_holds() -> None:
    """The customer hears music on: the agent does not listen."""
    story = bridged_call(BOB)
    story.take(hold(MAIN))
    story.take(LegHeldByPhone(PEER))
    story.take(unhold(MAIN))
    assert media_of(story, MAIN).sound == "music"


def test_a_canceled_transfer_returns_to_a_phone_that_holds() -> None:
    """The customer hears music until the source's phone resumes."""
    story = transferring("answered")
    story.take(LegHeldByPhone(PEER))
    assert media_of(story, TARGET).sound == "music"
    assert Hangup(TARGET, 16) in story.take(cancel(), 1_000)
    assert (media_of(story, MAIN).sound, bridged_legs(story)) == ("music", set())
    story.take(LegResumedByPhone(PEER), 1_000)
    assert bridged_legs(story) == {MAIN, PEER}


def test_hold_first_then_transfer() -> None:
    """The target hears music until the source resumes, and the customer once it is completed."""
    story = bridged_call(BOB)
    story.take(LegHeldByPhone(PEER))
    story.take(transfer_to(), 1_000)
    progress(story, TARGET, "answered")
    assert (media_of(story, MAIN).sound, media_of(story, TARGET).sound) == ("music", "music")
    story.take(LegResumedByPhone(PEER), 500)
    assert bridged_legs(story) == {PEER, TARGET}
    story.take(LegHeldByPhone(PEER), 500)
    story.take(complete(), 500)
    assert bridged_legs(story) == {MAIN, TARGET}


def test_the_target_of_a_transfer_holds() -> None:
    """The source hears music."""
    story = transferring("answered")
    story.take(LegHeldByPhone(TARGET))
    assert media_of(story, PEER).sound == "music"
    story.take(LegResumedByPhone(TARGET))
    assert bridged_legs(story) == {PEER, TARGET}


def test_a_member_of_a_conference_holds() -> None:
    """The others stay connected; the last party whose phone does not hold hears music."""
    story = in_conference()
    story.take(LegHeldByPhone(THIRD))
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(LegHeldByPhone(MAIN))
    assert (bridged_legs(story), media_of(story, PEER).sound) == (set(), "music")
    story.take(LegResumedByPhone(THIRD))
    assert bridged_legs(story) == {PEER, THIRD}


def test_a_customer_whose_coached_agent_holds() -> None:
    """The coach is in another bridge: the customer is alone, and hears music."""
    story = coaching()
    story.take(LegHeldByPhone(PEER))
    assert media_of(story, MAIN).sound == "music"


@pytest.mark.parametrize("event", [LegHeldByPhone(MAIN), LegHeldByPhone(PEER)])
def test_a_call_that_ends_reports_no_hold(event: LegHeldByPhone) -> None:
    story = bridged_call(BOB)
    story.hang_up()
    count = len(story.emitted)
    assert story.take(event) == ()
    assert len(story.emitted) == count
