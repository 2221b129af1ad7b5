"""How greetings end: hangups, limits, machines, outages; and what is asked of them meanwhile."""

import json

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
from engine.calls.model.state import Bridged, Detecting, Dialing, Gathering, Playing
from engine.calls.sessions.preconditions import Rejection, check_request
from engine.calls.verbs.screening import MAX_STAGE_MS
from tests.unit.calls.harness.builders import CLIPS, MAIN
from tests.unit.calls.harness.screenings import (
    BOB,
    CONFIRM,
    DETECT,
    EVE,
    FIRST,
    SECOND,
    WHISPER,
    fetched,
    greeted,
    greeting,
    pressed,
    result,
)


def test_a_hangup_while_greeted() -> None:
    """The called party: an ordinary end of its leg; the caller: of the call."""
    story = greeting(**CONFIRM)
    story.take(LegEnded(FIRST, NORMAL), 700)
    assert result(story)["cause"] == NORMAL
    caller = greeting(**CONFIRM)
    assert Hangup(FIRST, NORMAL) in caller.hang_up()
    caller.take(LegEnded(FIRST, NORMAL))
    assert caller.call.is_ended


def test_a_stage_has_an_end() -> None:
    """A whisper of hours is cut, a confirmation with such a prompt refused."""
    story = greeting(**WHISPER)
    state = greeted(story).state
    assert isinstance(state, Playing)
    story.take(MediaFetched(state.request, CLIPS * 100))
    assert StopPlayback(state.request) in story.due()
    assert story.state == "bridged"
    silent = greeting(**CONFIRM)
    prompt = greeted(silent).state
    assert isinstance(prompt, Gathering)
    silent.take(MediaFetched(prompt.request, CLIPS * 100))
    commands = silent.due()
    assert commands[0] == StopPlayback(prompt.request)
    assert Hangup(FIRST, REJECTED) in commands
    assert silent.now == story.now


def test_detection_before_whisper_before_confirmation() -> None:
    """One after another, each told to the PBX as it comes."""
    story = greeting(**DETECT, **WHISPER, **CONFIRM)
    assert story.wanted(StartTalkDetection) == [StartTalkDetection(FIRST, 200)]
    assert isinstance(greeted(story).state, Detecting)
    story.take(TalkStarted(FIRST), 300)
    story.take(TalkEnded(FIRST, 400), 600)
    assert StopTalkDetection(FIRST, "human") in story.due()
    assert greeted(story).stage == "whispering"
    story.take(PlaybackEnded(fetched(story)), 4_000)
    assert greeted(story).stage == "confirming"
    fetched(story)
    pressed(story, "1")
    assert story.state_as(Bridged).answered_by == "human"
    story.take(LegEnded(FIRST, NORMAL), 1_000)
    assert result(story)["answeredBy"] == "human"
    assert story.call.answered_by is None


def test_a_machine_is_connected_or_refused() -> None:
    """onMachine: continue, the default, or hangup, which goes on with the others."""
    story = greeting(**DETECT)
    story.due()
    assert story.state_as(Bridged).answered_by == "machine"
    [told] = [each for each in story.told if each.event == "machine-detection"]
    assert (told.channel_id, told.answered_by) == (FIRST, "machine")
    refusing = greeting(BOB, EVE, machineDetection={"onMachine": "hangup"})
    assert Hangup(FIRST, REJECTED) in refusing.due()
    assert refusing.state_as(Dialing).legs == (SECOND,)
    refusing.take(LegEnded(SECOND, NO_ANSWER), 100)
    assert result(refusing)["answeredBy"] == "machine"


def test_detection_that_is_off() -> None:
    """Enable false is as if it were not there."""
    story = greeting(machineDetection={"enable": False})
    assert story.state == "bridged"
    assert "answeredBy" not in json.dumps([each.event for each in story.told])


def test_a_party_that_is_called_in_is_greeted_too() -> None:
    """It is one of those who are dialled, and has its own time to ring."""
    story = greeting(timeout=3, **CONFIRM)
    fetched(story)
    story.take(DialRequested(EVE, 30), 5_000)
    assert story.state_as(Dialing).deadline_ms == story.now + 30_000
    called_in = story.state_as(Dialing).legs[-1]
    story.take(LegCreated(called_in), 100)
    story.take(LegAnswered(called_in), 1_000)
    assert [each.leg for each in story.state_as(Dialing).screenings] == [FIRST, called_in]


def test_who_is_greeted_can_t_be_held() -> None:
    """There is no conversation yet to be held in; the caller can be."""
    story = greeting(**WHISPER)
    refusal = check_request(story.call, HoldRequested(FIRST, True))
    assert isinstance(refusal, Rejection)
    assert refusal.code == "not_connected"
    assert check_request(story.call, HoldRequested(MAIN, True)) is None


def test_what_concerns_nobody_changes_nothing() -> None:
    """Keys of others, an answer told twice, an audio of another: the very same call."""
    story = greeting(BOB, EVE, **CONFIRM)
    fetched(story)
    before = story.call
    pressed(story, "1", MAIN)
    pressed(story, "1", SECOND)
    story.take(LegAnswered(FIRST))
    story.take(MediaFetched("other", CLIPS))
    assert story.call is before


def test_an_outage_is_not_their_silence() -> None:
    """The key's time is given again, a stage's too; detection is over."""
    story = greeting(**CONFIRM)
    story.take(PlaybackEnded(fetched(story)), 4_000)
    story.take(Recovered(), 60_000)
    assert greeted(story).state.deadline_ms == story.now + 10_120
    assert greeted(story).limit_ms == story.now + MAX_STAGE_MS
    detecting = greeting(**DETECT, **CONFIRM)
    detecting.take(Recovered(), 60_000)
    assert greeted(detecting).stage == "confirming"
    assert detecting.told[-1].answered_by == "unknown"
