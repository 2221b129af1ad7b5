"""whisper, confirm and machineDetection on dial: who answers is greeted before it is connected."""

import pytest

from engine.calls.media.plan import desired_media
from engine.calls.model.causes import NO_ANSWER, NORMAL, REJECTED
from engine.calls.model.commands import AddToBridge, Hangup, Play, StopPlayback, StopRinging
from engine.calls.model.events import LegAnswered, LegEnded, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.state import Bridged, Dialing
from tests.unit.calls.harness.builders import CLIPS, HTTPS, MAIN, say
from tests.unit.calls.harness.screenings import (
    BOB,
    CONFIRM,
    EVE,
    FIRST,
    SECOND,
    WHISPER,
    deliver_media,
    dial_result,
    press_digit,
    prompt_playback,
    screening_call,
)
from wire.media import Audio, Speech


def test_a_whisper_is_heard_by_the_called_party_alone() -> None:
    """The caller hears ringing meanwhile; when it has been heard, both are bridged."""
    story = screening_call(**WHISPER)
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("A call for sales."),)
    playback = deliver_media(story)
    assert story.commands_of(Play)[-1] == Play(FIRST, playback, CLIPS)
    assert desired_media(story.call)[MAIN].sound == "ringing"
    commands = story.take(PlaybackEnded(playback), 4_000)
    talking = story.state_as(Bridged)
    assert commands == (StopRinging(MAIN), AddToBridge(talking.bridge, (MAIN, FIRST)))
    assert talking.since_ms == story.now
    story.take(LegEnded(FIRST, NORMAL), 3_000)
    assert (dial_result(story)["status"], dial_result(story)["duration"]) == ("completed", 3)


def test_a_whisper_of_several_verbs() -> None:
    """play, say and gather follow one another; what is pressed is told, and asked of nobody."""
    gather = {"type": "gather", "data": {"maxDigits": 1}, "action": say("Thanks.")}
    story = screening_call(whisper=say("Sales?", action=gather))
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    press_digit(story, "7")
    assert (story.emitted[-1].event, story.emitted[-1].dtmf) == ("gathered", "7")
    assert story.emitted[-1].channel_id == FIRST
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    assert story.state == "bridged"
    assert story.commands_of(SendWebhook) == []


def test_the_right_key_connects() -> None:
    """During the prompt or after it; the prompt stops before the bridge."""
    story = screening_call(**CONFIRM)
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("Press one."),)
    playback = deliver_media(story)
    commands = press_digit(story, "1")
    assert commands[0] == StopPlayback(playback)
    assert isinstance(commands[-1], AddToBridge)
    after = screening_call(**CONFIRM)
    after.take(PlaybackEnded(deliver_media(after)), 4_000)
    press_digit(after, "1")
    assert after.state == "bridged"


def test_a_key_and_a_prompt_of_ones_own() -> None:
    """confirm: digit, audioUrl, timeout; without a prompt the key is waited for at once."""
    story = screening_call(confirm={"digit": "#", "audioUrl": HTTPS})
    assert story.commands_of(FetchMedia)[-1].sources == (Audio(HTTPS),)
    deliver_media(story)
    press_digit(story, "#")
    assert story.state == "bridged"
    silent = screening_call(confirm={"timeout": 3_000})
    silent.pass_deadline()
    assert dial_result(silent)["status"] == "failed"
    assert silent.now - story.now < 5_000


@pytest.mark.parametrize("key", ["2", ""], ids=["wrong", "none"])
def test_who_does_not_confirm_is_refused(key: str) -> None:
    """A wrong key, or none in time: hung up with cause 21, and the action is told."""
    story = screening_call(**CONFIRM)
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    commands = press_digit(story, key) if key else story.pass_deadline()
    assert Hangup(FIRST, REJECTED) in commands
    assert (dial_result(story)["status"], dial_result(story)["cause"]) == ("failed", REJECTED)
    assert story.state == "awaiting-instructions"
    story.take(LegEnded(FIRST, REJECTED), 100)
    assert story.emitted[-1].leg_status == "completed"


def test_the_others_ring_on() -> None:
    """A second party answers while the first is greeted: the first to confirm wins."""
    story = screening_call(BOB, EVE, **CONFIRM)
    story.take(LegAnswered(SECOND), 500)
    deliver_media(story, 0)
    deliver_media(story, 1)
    assert Hangup(FIRST, NORMAL) in press_digit(story, "1", SECOND)
    assert story.state_as(Bridged).leg == SECOND
    assert story.state_as(Bridged).number == EVE


def test_one_refused_and_the_other_goes_on() -> None:
    """The dial goes on with those who ring, until its own time is up."""
    story = screening_call(BOB, EVE, **CONFIRM)
    deliver_media(story)
    press_digit(story, "2")
    assert story.state_as(Dialing).legs == (SECOND,)
    assert Hangup(SECOND, NO_ANSWER) in story.pass_deadline()
    assert dial_result(story)["status"] == "no-answer"


def test_the_ring_s_time_does_not_cut_a_greeting() -> None:
    """Who still rings is given up then; who is greeted has the time of the greeting."""
    story = screening_call(BOB, EVE, timeout=3, **WHISPER)
    deliver_media(story)
    assert story.pass_deadline() == (Hangup(SECOND, NO_ANSWER),)
    assert story.state_as(Dialing).legs == (FIRST,)
    story.take(LegEnded(SECOND, NO_ANSWER), 50)
    story.take(PlaybackEnded(prompt_playback(story)), 4_000)
    assert story.state_as(Bridged).leg == FIRST
