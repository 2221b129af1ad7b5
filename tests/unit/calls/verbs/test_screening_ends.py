"""How screenings end: hangups, limits, machines, outages; and requests meanwhile."""

import json

from engine.calls.model.call_states import Bridged, Detecting, Dialing, Gathering, Playing
from engine.calls.model.causes import NO_ANSWER, NORMAL, REJECTED
from engine.calls.model.commands import Hangup, StartTalkDetection, StopPlayback, StopTalkDetection
from engine.calls.model.events import (
    LegAnswered,
    LegCreated,
    LegEnded,
    PlaybackEnded,
    Recovered,
    TalkEnded,
    TalkStarted,
)
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import DialRequested, HoldRequested
from engine.calls.sessions.preconditions import Rejection, check_request
from engine.calls.verbs.screening import MAX_STAGE_MS
from tests.harness.calls.builders import CLIPS, MAIN, dialing_call
from tests.harness.calls.screenings import (
    BOB,
    CONFIRM,
    DETECT,
    EVE,
    FIRST,
    SECOND,
    WHISPER,
    deliver_media,
    dial_result,
    press_digit,
    screening_call,
    screening_of,
)


def test_a_hangup_during_screening() -> None:
    """The called party: the end of its leg; the caller: the end of the call."""
    story = screening_call(**CONFIRM)
    story.take(LegEnded(FIRST, NORMAL), 700)
    assert dial_result(story)["cause"] == NORMAL
    caller = screening_call(**CONFIRM)
    assert Hangup(FIRST, NORMAL) in caller.hang_up()
    caller.take(LegEnded(FIRST, NORMAL))
    assert caller.call.is_ended


def test_a_stage_has_a_limit() -> None:
    """A whisper of hours is cut off; a confirmation with such a prompt is rejected."""
    story = screening_call(**WHISPER)
    state = screening_of(story).state
    assert isinstance(state, Playing)
    story.take(MediaFetched(state.request, CLIPS * 100))
    assert StopPlayback(state.request) in story.pass_deadline()
    assert story.state == "bridged"
    silent = screening_call(**CONFIRM)
    prompt = screening_of(silent).state
    assert isinstance(prompt, Gathering)
    silent.take(MediaFetched(prompt.request, CLIPS * 100))
    commands = silent.pass_deadline()
    assert commands[0] == StopPlayback(prompt.request)
    assert Hangup(FIRST, REJECTED) in commands
    assert silent.now == story.now


def test_a_refusal_in_the_last_verb() -> None:
    """The end of the tree hangs all legs up, but this one as refused."""
    story = dialing_call(data={"number": BOB, **CONFIRM})
    story.take(LegCreated(FIRST))
    story.take(LegAnswered(FIRST), 2_000)
    story.take(PlaybackEnded(deliver_media(story)))
    assert story.pass_deadline() == (Hangup(FIRST, REJECTED), Hangup(MAIN, NORMAL))


def test_the_order_of_stages() -> None:
    """Detection, whisper, confirmation."""
    story = screening_call(**DETECT, **WHISPER, **CONFIRM)
    assert story.commands_of(StartTalkDetection) == [StartTalkDetection(FIRST, 200)]
    assert isinstance(screening_of(story).state, Detecting)
    story.take(TalkStarted(FIRST), 300)
    story.take(TalkEnded(FIRST, 400), 600)
    assert StopTalkDetection(FIRST, "human") in story.pass_deadline()
    assert screening_of(story).stage == "whispering"
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    assert screening_of(story).stage == "confirming"
    deliver_media(story)
    press_digit(story, "1")
    assert story.state_as(Bridged).answered_by == "human"
    story.take(LegEnded(FIRST, NORMAL), 1_000)
    assert dial_result(story)["answeredBy"] == "human"
    assert story.call.answered_by is None


def test_a_machine_is_connected_or_rejected() -> None:
    """onMachine: continue, the default, or hangup, which continues with the other legs."""
    story = screening_call(**DETECT)
    story.pass_deadline()
    assert story.state_as(Bridged).answered_by == "machine"
    [event] = [each for each in story.emitted if each.event == "machine-detection"]
    assert (event.channel_id, event.answered_by) == (FIRST, "machine")
    assert event.parent_call_id == story.call.id
    refusing = screening_call(BOB, EVE, machineDetection={"onMachine": "hangup"})
    assert Hangup(FIRST, REJECTED) in refusing.pass_deadline()
    assert refusing.state_as(Dialing).legs == (SECOND,)
    refusing.take(LegEnded(SECOND, NO_ANSWER), 100)
    assert dial_result(refusing)["answeredBy"] == "machine"


def test_detection_that_is_off() -> None:
    """`enable: false` is the same as no detection."""
    story = screening_call(machineDetection={"enable": False})
    assert story.state == "bridged"
    assert "answeredBy" not in json.dumps([each.event for each in story.emitted])


def test_a_party_that_is_called_in_is_screened() -> None:
    """It becomes one of the dialed legs, with its own ring timeout."""
    story = screening_call(timeout=3, **CONFIRM)
    deliver_media(story)
    story.take(DialRequested(EVE, 30), 5_000)
    assert story.state_as(Dialing).deadline_ms == story.now + 30_000
    called_in = story.state_as(Dialing).legs[-1]
    story.take(LegCreated(called_in), 100)
    story.take(LegAnswered(called_in), 1_000)
    assert [each.leg for each in story.state_as(Dialing).screenings] == [FIRST, called_in]


def test_a_screened_leg_cannot_be_held() -> None:
    """There is no conversation yet; the caller can be held."""
    story = screening_call(**WHISPER)
    refusal = check_request(story.call, HoldRequested(FIRST, True))
    assert isinstance(refusal, Rejection)
    assert refusal.code == "not_connected"
    assert check_request(story.call, HoldRequested(MAIN, True)) is None


def test_unrelated_events_change_nothing() -> None:
    """Digits of others, a repeated answer, another audio: the very same call."""
    story = screening_call(BOB, EVE, **CONFIRM)
    deliver_media(story)
    before = story.call
    press_digit(story, "1", MAIN)
    press_digit(story, "1", SECOND)
    story.take(LegAnswered(FIRST))
    story.take(MediaFetched("other", CLIPS))
    assert story.call is before


def test_recovery_restarts_the_clocks() -> None:
    """The time of the digit and of the stage; detection ends."""
    story = screening_call(**CONFIRM)
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    story.take(Recovered(), 60_000)
    assert screening_of(story).state.deadline_ms == story.now + 10_120
    assert screening_of(story).limit_ms == story.now + MAX_STAGE_MS
    detecting = screening_call(**DETECT, **CONFIRM)
    detecting.take(Recovered(), 60_000)
    assert screening_of(detecting).stage == "confirming"
    assert detecting.emitted[-1].answered_by == "unknown"
