"""gather: maxDigits, timeout, digitTimeout, terminator, barge-in, fallback (spec, Verbs)."""

import json
from typing import Any

import pytest

from engine.calls.commands import Hangup, Play, StopPlayback
from engine.calls.doing import Asking, Gathering
from engine.calls.errands import AskWebhook, FetchMedia
from engine.calls.events import (
    DigitPressed,
    LegEnded,
    LegRang,
    MediaFetched,
    PlaybackEnded,
    Recovered,
)
from engine.calls.verbs.gather import GRACE_MS, LONGEST_MS
from engine.calls.verbs.play import FETCH_MS
from engine.calls.verbs.play import GRACE_MS as PLAYBACK_GRACE_MS
from tests.unit.calls.building import CLIPS, HTTPS, ID, MAIN, Story, called, dialing, say

PROMPT = f"{ID}.p1"
HOOK = "https://example.com/gathered"


def gathering(action: Any = HOOK, verb_timeout: float | None = None, **data: Any) -> Story:
    """Make a call that gathers, without a prompt unless one is given."""
    verb: dict[str, Any] = {"type": "gather", "data": data, "action": action}
    return called(verb if verb_timeout is None else {**verb, "timeout": verb_timeout})


def prompting(**data: Any) -> Story:
    """Make a call that plays the prompt of a gather."""
    story = gathering(audioUrl=HTTPS, **data)
    story.fetched()
    return story


def result(story: Story) -> dict[str, Any]:
    """Read what the webhook was told last."""
    asked = story.wanted(AskWebhook)[-1]
    assert asked.url == HOOK
    body: dict[str, Any] = json.loads(asked.body)
    return body


def test_the_terminator_ends_it_at_once() -> None:
    """Terminator: the key that ends collection at once; it is left out of `dtmf`."""
    story = gathering(terminator="#")
    story.press("1")
    story.press("2")
    assert [type(each) for each in story.press("#")] == [AskWebhook]
    assert result(story) == {
        "event": "gather",
        "callId": ID,
        "dtmf": "12",
        "to": {"channelId": MAIN},
        "reason": "terminator",
        "customData": None,
    }
    assert story.state == "Asking"


def test_the_terminator_may_come_first() -> None:
    """A terminator as the first key is an empty answer, not a silence."""
    story = gathering(fallback=say())
    story.press("#")
    assert (result(story)["dtmf"], result(story)["reason"]) == ("", "terminator")


def test_an_empty_terminator_is_none() -> None:
    """`""` disables it: # is a digit like others."""
    story = gathering(terminator="", maxDigits=2)
    story.press("#")
    story.press("*")
    assert result(story)["dtmf"] == "#*"


def test_max_digits_completes() -> None:
    """maxDigits: digits before completing."""
    story = gathering(maxDigits=4)
    for digit in "123":
        assert story.press(digit) == ()
    story.press("4")
    assert (result(story)["dtmf"], result(story)["reason"]) == ("1234", "max-digits")


def test_the_first_digit_has_its_own_clock() -> None:
    """timeout: ms until the first digit; without a fallback the webhook is told of the silence."""
    story = gathering(timeout=3_000)
    began = story.now
    story.due()
    assert story.now == began + 3_000 + GRACE_MS
    assert (result(story)["dtmf"], result(story)["reason"]) == ("", "timeout")


def test_the_fallback_runs_on_no_input() -> None:
    """When gather times out with no input, the fallback verb supplied by the caller runs."""
    story = gathering(timeout=3_000, fallback=say("nobody?"))
    assert [type(each) for each in story.due()] == [FetchMedia]
    assert story.wanted(AskWebhook) == []
    assert story.told[-1].reason == "timeout"


def test_the_gap_between_digits_has_its_own_clock() -> None:
    """digitTimeout: ms, gap between digits; what was collected is told, no fallback runs."""
    story = gathering(digitTimeout=1_000, fallback=say())
    story.press("1")
    story.press("2", 900)
    began = story.now
    story.due()
    assert story.now == began + 1_000 + GRACE_MS
    assert (result(story)["dtmf"], result(story)["reason"]) == ("12", "digit-timeout")


def test_a_key_that_went_down_in_time_counts() -> None:
    """Gather deadlines are compared with the press: a digit arrives at key-up."""
    story = gathering(timeout=3_000)
    story.press("1", after_ms=3_100, held_ms=150)
    assert story.doing(Gathering).digits == "1"


def test_a_key_that_went_down_too_late_does_not() -> None:
    """A press after the phase's time is the timeout, though the timer has not fired yet."""
    story = gathering(timeout=3_000)
    story.press("1", after_ms=3_100, held_ms=20)
    assert (result(story)["dtmf"], result(story)["reason"]) == ("", "timeout")


def test_a_late_second_key_does_not_count() -> None:
    """The same holds between digits."""
    story = gathering(digitTimeout=1_000)
    story.press("1")
    story.press("2", after_ms=1_100, held_ms=20)
    assert (result(story)["dtmf"], result(story)["reason"]) == ("1", "digit-timeout")


def test_the_prompt_is_played_first() -> None:
    """The first-digit timer starts when the prompt ends."""
    story = gathering(audioUrl=HTTPS, timeout=3_000)
    assert story.doing(Gathering).phase == "fetch"
    assert story.fetched() == (Play(MAIN, PROMPT, CLIPS),)
    story.take(PlaybackEnded(PROMPT), 4_000)
    assert story.doing(Gathering).deadline_ms == story.now + 3_000 + GRACE_MS


def test_a_digit_stops_the_prompt() -> None:
    """Barge-in: a digit stops the prompt and starts the inter-digit timer."""
    story = prompting(digitTimeout=1_000)
    assert story.press("1") == (StopPlayback(PROMPT),)
    assert story.doing(Gathering).deadline_ms == story.now + 1_000 + GRACE_MS
    assert story.take(PlaybackEnded(PROMPT), 10) == ()
    assert story.doing(Gathering).phase == "between"


@pytest.mark.parametrize(("key", "dtmf"), [("1", "1"), ("#", "")])
def test_the_last_key_during_the_prompt(key: str, dtmf: str) -> None:
    """MaxDigits or the terminator during the prompt: it is stopped and the webhook asked."""
    story = prompting(maxDigits=1)
    assert [type(each) for each in story.press(key)] == [StopPlayback, AskWebhook]
    assert result(story)["dtmf"] == dtmf


def test_a_digit_before_the_prompt_makes_it_needless() -> None:
    """Who knows the menu need not wait for it: audio that comes later is not played."""
    story = gathering(audioUrl=HTTPS)
    story.press("1")
    assert story.take(MediaFetched(PROMPT, CLIPS), 10) == ()
    assert story.doing(Gathering).digits == "1"


def test_a_prompt_that_cannot_be_had_is_passed_over() -> None:
    """Without audio it listens at once."""
    story = gathering(audioUrl=HTTPS)
    assert story.fetched(()) == ()
    assert story.doing(Gathering).phase == "first"


def test_a_prompt_that_never_comes() -> None:
    """The fetch has a deadline, after which it listens."""
    story = gathering(audioUrl=HTTPS)
    began = story.now
    story.due()
    assert story.now == began + FETCH_MS
    assert story.doing(Gathering).phase == "first"


def test_a_prompt_that_never_ends_is_stopped() -> None:
    """A prompt that outlives its length is stopped, then it listens."""
    story = prompting()
    began = story.now
    assert story.due() == (StopPlayback(PROMPT),)
    assert story.now == began + 4_000 + PLAYBACK_GRACE_MS
    assert story.doing(Gathering).phase == "first"


def test_the_whole_has_a_limit() -> None:
    """The verb's timeout, in seconds, stands over everything, a playing prompt too."""
    story = gathering(verb_timeout=2.0, audioUrl=HTTPS)
    story.fetched()
    assert [type(each) for each in story.due()] == [StopPlayback, AskWebhook]
    assert result(story)["reason"] == "timeout"


def test_the_limit_keeps_what_was_collected() -> None:
    """Digits before the limit are told, and no fallback runs then."""
    story = gathering(verb_timeout=2.0, fallback=say())
    story.press("1", 1_900)
    story.due()
    assert (result(story)["dtmf"], result(story)["reason"]) == ("1", "timeout")


def test_a_key_that_went_down_before_the_limit_counts() -> None:
    """The limit, too, is compared with the press, and given the grace of a key that is down."""
    story = gathering(verb_timeout=2.0)
    story.press("1", 1_950)
    story.due()
    assert (result(story)["dtmf"], result(story)["reason"]) == ("1", "timeout")


def test_the_limit_stands_over_the_fetch_of_the_prompt() -> None:
    """A prompt that can't be had in time does not keep the caller beyond the verb's timeout."""
    story = gathering(verb_timeout=2.0, audioUrl=HTTPS)
    began = story.now
    story.due()
    assert (story.now, result(story)["reason"]) == (began + 2_000 + GRACE_MS, "timeout")


def test_no_gather_lasts_for_ever() -> None:
    """Without a timeout of its own a gather is over within an hour."""
    story = gathering()
    assert story.doing(Gathering).limit_ms == story.now + LONGEST_MS


def test_zero_timeouts_are_immediate() -> None:
    """Timeout 0: no wait but for the grace of a key that is down."""
    story = gathering(timeout=0)
    began = story.now
    story.due()
    assert story.now == began + GRACE_MS


def test_custom_data_goes_to_the_webhook() -> None:
    """CustomData is passed to all action endpoints."""
    story = called({"type": "gather", "action": HOOK}, custom_data={"order": 7})
    story.press("#")
    assert result(story)["customData"] == {"order": 7}


def test_a_gather_whose_action_is_no_address() -> None:
    """An action object, or none, runs without a webhook."""
    story = gathering(action=say(), maxDigits=1)
    assert [type(each) for each in story.press("1")] == [FetchMedia]
    assert story.told[-1].dtmf == "1"
    story = gathering(action=None, maxDigits=1)
    assert story.press("1") == (Hangup(MAIN, 16),)


def test_a_failing_webhook_runs_the_fallback() -> None:
    """The fallback is kept while the webhook is asked."""
    story = gathering(fallback=say())
    story.press("#")
    fallback = story.doing(Asking).fallback
    assert fallback is not None
    assert [type(each) for each in story.due()] == [FetchMedia]


def test_a_caller_who_hangs_up_is_told_to_the_webhook() -> None:
    """Reason `hangup`, with what was collected; nobody waits for the answer."""
    story = gathering()
    story.press("1")
    assert [type(each) for each in story.hang_up()] == [AskWebhook]
    assert (result(story)["dtmf"], result(story)["reason"]) == ("1", "hangup")
    assert [event.event for event in story.told[-2:]] == ["gathered", "completed"]
    assert story.call.is_over


def test_a_caller_who_hangs_up_without_a_webhook() -> None:
    """Only the events tell it then."""
    story = gathering(action=None)
    assert story.hang_up() == ()
    assert story.told[-2].reason == "hangup"


def test_an_unknown_leg_is_not_listened_to() -> None:
    """ChannelId names a leg; if it is gone, the fallback runs, or the webhook is told."""
    story = gathering(channelId="0-pbx1-abcdefgh.l9", fallback=say())
    assert story.state == "Playing"
    story = gathering(channelId="0-pbx1-abcdefgh.l9")
    assert story.state == "Asking"
    assert (result(story)["dtmf"], result(story)["reason"]) == ("", "hangup")


def test_resuming_on_the_same_leg() -> None:
    """channelId: resume on same leg."""
    story = gathering(channelId=MAIN, maxDigits=1)
    story.press("5")
    assert result(story)["to"] == {"channelId": MAIN}


def test_another_leg_that_goes_ends_its_gather() -> None:
    """A leg that hangs up has nothing more to press."""
    gather = {"type": "gather", "data": {"channelId": f"{ID}.l1"}, "action": HOOK}
    story = dialing("+4712345678", action=gather)
    story.due()
    assert story.doing(Gathering).leg == f"{ID}.l1"
    story.take(LegEnded(f"{ID}.l1", 16), 10)
    assert result(story)["reason"] == "hangup"


@pytest.mark.parametrize(
    "event",
    [
        DigitPressed("other", "1", 0),
        MediaFetched("other", CLIPS),
        PlaybackEnded("other"),
        LegRang(MAIN),
    ],
)
def test_what_does_not_concern_a_gather_is_ignored(event: DigitPressed) -> None:
    """Another leg's digits, another request's audio: it listens on."""
    story = gathering()
    before = story.call
    assert story.take(event) == ()
    assert story.call is before


@pytest.mark.parametrize("phase", ["fetch", "first", "between"])
def test_a_recovery_gives_the_phase_its_time_again(phase: str) -> None:
    """An outage is not the caller's silence."""
    story = gathering(timeout=3_000, digitTimeout=1_000, audioUrl=HTTPS)
    if phase != "fetch":
        story.fetched(())
    if phase == "between":
        story.press("1")
    given = {"fetch": FETCH_MS, "first": 3_000 + GRACE_MS, "between": 1_000 + GRACE_MS}
    story.take(Recovered(), 500)
    assert story.doing(Gathering).phase == phase
    assert story.doing(Gathering).deadline_ms == story.now + given[phase]


def test_a_recovery_leaves_a_prompt_alone() -> None:
    """Media plays on while an engine is away."""
    story = prompting()
    before = story.call
    story.take(Recovered(), 500)
    assert story.call is before


def test_gathers_may_nest_in_fallbacks() -> None:
    """The fallback of a gather may be a gather; both clocks run, then the call ends."""
    inner = {"type": "gather", "data": {"timeout": 1_000, "fallback": say("bye")}}
    story = gathering(fallback=inner, timeout=1_000)
    story.due()
    assert story.state == "Gathering"
    story.due()
    assert story.state == "Playing"
