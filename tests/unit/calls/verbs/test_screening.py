"""whisper, confirm and machineDetection on dial: legs are screened before they are connected."""

import pytest

from engine.calls.media.plan import desired_media
from engine.calls.model.call_states import Bridged, Dialing
from engine.calls.model.causes import NO_ANSWER, NORMAL, REJECTED
from engine.calls.model.commands import AddToBridge, Hangup, Play, StopPlayback, StopRinging
from engine.calls.model.events import (
    Event,
    LegAnswered,
    LegEnded,
    PlaybackEnded,
    Recovered,
    TalkEnded,
    TalkStarted,
)
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from tests.harness.calls.builders import CLIPS, HTTPS, MAIN, say
from tests.harness.calls.screenings import (
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


def test_only_the_called_party_hears_a_whisper() -> None:
    """The caller hears ringing meanwhile; then both are bridged."""
    story = screening_call(**WHISPER)
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("A call for sales."),)
    playback = deliver_media(story)
    assert story.commands_of(Play)[-1] == Play(FIRST, playback, CLIPS)
    assert desired_media(story.call)[MAIN].sound == "ringing"
    commands = story.take(PlaybackEnded(playback), 4_000)
    bridged = story.state_as(Bridged)
    assert commands == (StopRinging(MAIN), AddToBridge(bridged.bridge, (MAIN, FIRST)))
    assert bridged.since_ms == story.now
    story.take(LegEnded(FIRST, NORMAL), 3_000)
    assert (dial_result(story)["status"], dial_result(story)["duration"]) == ("completed", 3)


def test_a_whisper_of_several_verbs() -> None:
    """play, say and gather follow one another; digits are reported in events only."""
    gather = {"type": "gather", "data": {"maxDigits": 1}, "action": say("Thanks.")}
    story = screening_call(whisper=say("Sales?", action=gather))
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    press_digit(story, "7")
    assert (story.emitted[-1].event, story.emitted[-1].dtmf) == ("gathered", "7")
    assert story.emitted[-1].channel_id == FIRST
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    assert story.state == "bridged"
    assert story.commands_of(SendWebhook) == []


def test_the_right_digit_connects() -> None:
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


def test_custom_digit_and_prompt() -> None:
    """confirm: digit, audioUrl, timeout; without a prompt the digit is awaited at once."""
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
def test_a_leg_without_confirmation_is_rejected(key: str) -> None:
    """A wrong digit, or none in time: cause 21, and the action gets the result."""
    story = screening_call(**CONFIRM)
    story.take(PlaybackEnded(deliver_media(story)), 4_000)
    commands = press_digit(story, key) if key else story.pass_deadline()
    assert Hangup(FIRST, REJECTED) in commands
    assert (dial_result(story)["status"], dial_result(story)["cause"]) == ("failed", REJECTED)
    assert story.state == "awaiting-instructions"
    story.take(LegEnded(FIRST, REJECTED), 100)
    assert story.emitted[-1].leg_status == "completed"


def test_the_other_legs_keep_ringing() -> None:
    """A second party answers during the first's screening: the first to confirm wins."""
    story = screening_call(BOB, EVE, **CONFIRM)
    story.take(LegAnswered(SECOND), 500)
    deliver_media(story, 0)
    deliver_media(story, 1)
    assert Hangup(FIRST, NORMAL) in press_digit(story, "1", SECOND)
    assert story.state_as(Bridged).leg == SECOND
    assert story.state_as(Bridged).number == EVE


def test_one_is_rejected_and_the_other_continues() -> None:
    """The dial continues with the ringing legs until its timeout."""
    story = screening_call(BOB, EVE, **CONFIRM)
    deliver_media(story)
    press_digit(story, "2")
    assert story.state_as(Dialing).legs == (SECOND,)
    story.take(LegEnded(FIRST, NORMAL))
    assert Hangup(SECOND, NO_ANSWER) in story.pass_deadline()
    assert dial_result(story)["status"] == "no-answer"


def test_the_cause_of_a_party_that_rang_too_long() -> None:
    """It counts for the dial when the screened party hangs up later."""
    story = screening_call(BOB, EVE, **CONFIRM)
    while SECOND in story.state_as(Dialing).legs:
        story.pass_deadline()
    story.take(LegEnded(FIRST, NORMAL))
    result = dial_result(story)
    assert (result["status"], result["cause"]) == ("no-answer", NO_ANSWER)


def test_the_ring_timeout_does_not_end_a_screening() -> None:
    """It ends the ringing legs; a screened leg has the time of its stage."""
    story = screening_call(BOB, EVE, timeout=3, **WHISPER)
    deliver_media(story)
    assert story.pass_deadline() == (Hangup(SECOND, NO_ANSWER),)
    assert story.state_as(Dialing).legs == (FIRST,)
    story.take(LegEnded(SECOND, NO_ANSWER), 50)
    story.take(PlaybackEnded(prompt_playback(story)), 4_000)
    assert story.state_as(Bridged).leg == FIRST


@pytest.mark.parametrize(
    ("heard", "answered_by"),
    [((TalkStarted(FIRST), TalkEnded(FIRST, 800)), "human"), ((Recovered(),), "unknown")],
)
def test_only_machines_are_hung_up(heard: tuple[Event, ...], answered_by: str) -> None:
    """With onMachine hangup, a person and an unknown party are connected."""
    story = screening_call(machineDetection={"onMachine": "hangup"})
    for event in heard:
        story.take(event, 500)
    if story.state == "dialing":
        story.pass_deadline()
    assert story.state_as(Bridged).leg == FIRST
    assert story.state_as(Bridged).answered_by == answered_by
    assert not story.commands_of(Hangup)


def test_an_event_of_another_leg_changes_no_screening() -> None:
    """Nothing is stored or sent for it."""
    story = screening_call(**CONFIRM)
    before = story.call
    assert story.take(TalkStarted(MAIN)) == ()
    assert story.call is before
