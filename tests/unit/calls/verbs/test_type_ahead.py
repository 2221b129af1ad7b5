"""Type-ahead: digits pressed before a gather count for it, in order and once (decision 0013)."""

from typing import Any

import pytest

from engine.calls.model import call_states
from engine.calls.model.commands import Play
from engine.calls.model.events import DigitPressed, LegEnded, PlaybackEnded, VoicemailEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.storage_format import decode_call, encode
from engine.calls.verbs.gather.clocks import GRACE_MS
from engine.calls.verbs.type_ahead import MAX_TYPED_AHEAD, SPARE_TERMINATOR_MS
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call, say, tree
from tests.harness.calls.control import hold, unhold
from tests.harness.calls.screenings import CONFIRM, FIRST, deliver_media, screening_call


def gather(action: Any = HTTPS, **data: Any) -> dict[str, Any]:
    return {"type": "gather", "data": data, "action": action}


def reply(story: Story, action: Any) -> None:
    """Return an action from the webhook that the call waits for."""
    story.take(
        ActionReceived(story.state_as(call_states.AwaitingInstructions).request, tree(action)), 100
    )


def gathered(story: Story) -> list[tuple[str | None, str | None]]:
    """Return the digits and the reason of each gather that has ended."""
    return [(each.dtmf, each.reason) for each in story.emitted if each.event == "gathered"]


def typed(story: Story) -> str:
    """Return what the main leg has typed ahead."""
    return "".join(each.digit for each in story.leg(story.call.main).typed_ahead)


def saying(action: Any) -> Story:
    """Return a call that says something before an action."""
    story = answered_call(say(action=action))
    story.deliver_media()
    return story


def end_prompt(story: Story) -> tuple[Any, ...]:
    return story.take(PlaybackEnded(story.state_as(call_states.Playing).request), 4_000)


def test_digits_of_several_menus_during_a_webhook() -> None:
    """`132` through three menus of one digit each: each menu gets its own."""
    story = answered_call(gather(maxDigits=1))
    for digit in "132":
        story.press(digit)
    reply(story, gather(maxDigits=1, audioUrl=HTTPS))
    reply(story, gather(maxDigits=1, audioUrl=HTTPS))
    assert [dtmf for dtmf, _ in gathered(story)] == ["1", "3", "2"]
    assert story.commands_of(FetchMedia) == []  # no prompt is played


def test_digits_during_a_prompt_of_another_verb() -> None:
    """The prompt of say plays on; then the gather ends without its own prompt."""
    story = saying(gather(audioUrl=HTTPS, terminator="*"))
    for digit in "12*":
        assert story.press(digit) == ()
    assert [type(each) for each in end_prompt(story)] == [SendWebhook]
    assert gathered(story) == [("12", "terminator")]


def test_an_incomplete_input_is_continued() -> None:
    """The prompt is not played, and the next digit has its whole time."""
    story = saying(gather(audioUrl=HTTPS, maxDigits=4, digitTimeout=1_500))
    story.press("1")
    assert end_prompt(story) == ()
    state = story.state_as(call_states.Gathering)
    assert (state.phase, state.digits) == ("between", "1")
    assert state.deadline_ms == story.now + 1_500 + GRACE_MS
    story.press("2")
    story.press("#")
    assert gathered(story) == [("12", "terminator")]


@pytest.mark.parametrize(
    "verb",
    [
        {"type": "pause", "data": {"length": 2}},
        {"type": "flow", "data": {"flowId": "f"}},
        {"type": "play", "data": {"audioUrl": HTTPS}},
    ],
)
def test_states_that_keep_digits(verb: dict[str, Any]) -> None:
    """A pause, a flow that is loaded, audio that is fetched."""
    story = answered_call({**verb, "action": gather(maxDigits=1)})
    story.press("7")
    assert typed(story) == "7"


def test_a_gather_can_clear_them() -> None:
    """`typeAhead: false`: only keys that go down from then on count, none that is still down."""
    story = saying(gather(audioUrl=HTTPS, typeAhead=False))
    story.press("1")
    assert isinstance(end_prompt(story)[0], FetchMedia)
    story.press("2", after_ms=50, held_ms=80)
    story.press("3", after_ms=150, held_ms=80)
    story.press("#")
    assert gathered(story) == [("3", "terminator")]
    assert typed(story) == ""


def test_a_key_held_from_a_prompt_into_a_gather_counts() -> None:
    """It went down while its leg could type ahead."""
    story = saying(gather(maxDigits=1))
    end_prompt(story)
    story.press("5", after_ms=50, held_ms=400)
    assert gathered(story) == [("5", "max-digits")]


def test_the_buffer_is_bounded() -> None:
    """The first digits are kept."""
    story = answered_call({"type": "pause", "data": {"length": 600}})
    for place in range(MAX_TYPED_AHEAD + 6):
        story.press(str(place % 10))
    assert typed(story) == "".join(str(place % 10) for place in range(MAX_TYPED_AHEAD))


def test_it_survives_a_takeover() -> None:
    """It is part of the call."""
    story = saying(gather(maxDigits=2))
    story.press("4")
    story.call = decode_call(encode(story.call))
    story.press("2")
    end_prompt(story)
    assert gathered(story) == [("42", "max-digits")]


def test_it_ends_with_its_leg() -> None:
    """The record of an ended leg has no digits that no verb collected."""
    story = saying(gather())
    story.press("4")
    story.take(LegEnded(MAIN, 16))
    assert story.call.ended_legs[-1].leg.typed_ahead == ()


# What is no type-ahead


def test_a_hold() -> None:
    """Digits on hold are dropped, also of a key that is released after it; earlier ones stay."""
    story = saying(gather(maxDigits=2))
    story.press("1")
    story.take(hold(MAIN), 100)
    story.press("2")
    story.take(unhold(MAIN), 100)
    story.press("3", after_ms=50, held_ms=100)
    story.press("4")
    end_prompt(story)
    assert gathered(story) == [("14", "max-digits")]


def test_a_dial_and_a_conversation() -> None:
    """Digits to a called party are its own; those typed before the dial are dropped, too."""
    dial = {"type": "dial", "data": {"number": "+4715550101"}, "action": gather()}
    story = saying(dial)
    story.press("1")
    end_prompt(story)
    story.press("2")
    story.take(LegEnded(f"{story.call.id}.l2", 17), 100)
    story.press("3", after_ms=50, held_ms=100)
    story.press("4", after_ms=200)
    story.press("#")
    assert gathered(story) == [("4", "terminator")]


def test_a_voicemail() -> None:
    """What was typed before its recording and during it is dropped, what follows it is kept."""
    archive = RecordingDestination("file:///x/", "acme/2026-11-21")
    verb = {"type": "record", "data": {"beep": False, "text": "speak"}, "action": HTTPS}
    story = answered_call(verb, recording_destination=archive)
    story.deliver_media()
    story.press("1")
    end_prompt(story)
    story.press("2")
    assert typed(story) == ""


def test_after_a_voicemail() -> None:
    """The terminator ends the recording; digits that follow are for the next menu."""
    archive = RecordingDestination("file:///x/", "acme/2026-11-21")
    verb = {"type": "record", "data": {"beep": False}, "action": HTTPS}
    story = answered_call(verb, recording_destination=archive)
    name = story.call.recordings[0].name
    story.take(VoicemailEnded(name), 5_000)
    story.press("#", after_ms=20)
    assert story.state_as(call_states.RecordingVoicemail).reason == "terminator"
    story.press("1")
    assert typed(story) == "1"


def test_a_leg_in_screening() -> None:
    """A key pressed during the whisper confirms; the main leg's keys are for no gather."""
    story = screening_call(whisper=say("for sales"), **CONFIRM)
    deliver_media(story)
    story.press("1")
    story.take(DigitPressed(FIRST, "1", story.now), 100)
    assert story.state == "dialing"
    [screening] = story.state_as(call_states.Dialing).screenings
    assert isinstance(screening.state, call_states.Playing)
    story.take(PlaybackEnded(screening.state.request), 4_000)
    assert story.state == "bridged"


def test_zero_timeouts_do_not_wait() -> None:
    """`timeout: 0` and `digitTimeout: 0`: what was typed ahead counts, then the gather ends."""
    for digits, reason in (("12", "digit-timeout"), ("", "timeout")):
        story = saying(gather(timeout=0, digitTimeout=0))
        for digit in digits:
            story.press(digit)
        end_prompt(story)
        began_ms = story.now
        story.pass_deadline()
        assert gathered(story) == [(digits, reason)]
        assert story.now == began_ms + GRACE_MS


# The terminator after the last digit


def test_a_terminator_after_max_digits() -> None:
    """`1234#` with maxDigits 4: the terminator neither ends nor answers the next menu."""
    story = answered_call(gather(maxDigits=4))
    for digit in "1234":
        story.press(digit)
    reply(story, gather(audioUrl=HTTPS, maxDigits=2))
    assert story.press("#", after_ms=150) == ()
    assert story.state_as(call_states.Gathering).phase == "fetch"
    story.press("#")
    assert gathered(story) == [("1234", "max-digits"), ("", "terminator")]


@pytest.mark.parametrize("later_ms", [0, 1])
def test_the_terminator_is_expected_for_three_seconds(later_ms: int) -> None:
    """From key-down to key-down."""
    story = answered_call(gather(maxDigits=1))
    story.press("1")
    story.press("#", after_ms=SPARE_TERMINATOR_MS + later_ms)
    assert typed(story) == "#" * later_ms


def test_only_the_next_digit_is_a_spare_terminator() -> None:
    """After another digit it is the terminator of the next menu; a second one, too."""
    story = answered_call(gather(maxDigits=1))
    for digit in "12#":
        story.press(digit)
    assert typed(story) == "2#"
    story = answered_call(gather(maxDigits=1))
    for digit in "1##":
        story.press(digit)
    assert typed(story) == "#"


def test_the_terminator_is_that_of_the_menu_that_ended() -> None:
    """Another key is a digit; without a terminator there is nothing to drop."""
    for terminator, left in (("*", "#"), ("", "#"), ("#", "")):
        story = answered_call(gather(maxDigits=1, terminator=terminator))
        story.press("1")
        story.press("#")
        assert typed(story) == left


def test_a_terminator_typed_ahead() -> None:
    """`12#3#` ahead of two menus: the first of two digits, the second until its terminator."""
    story = saying(gather(maxDigits=2, action=gather(maxDigits=4)))
    for digit in "12#3#":
        story.press(digit)
    end_prompt(story)
    assert gathered(story) == [("12", "max-digits"), ("3", "terminator")]
    assert len(story.commands_of(Play)) == 1
