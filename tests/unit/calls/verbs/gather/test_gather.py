"""gather: maxDigits, timeout, digitTimeout, terminator, barge-in, fallback."""

import pytest
from msgspec.structs import replace

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Play, StopPlayback
from engine.calls.model.events import PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.gather.clocks import GRACE_MS
from engine.calls.verbs.gather.gather import MAX_GATHER_MS
from engine.calls.verbs.play import FETCH_TIMEOUT_MS
from engine.calls.verbs.play import GRACE_MS as PLAYBACK_GRACE_MS
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, answered_call, say
from tests.harness.calls.gathers import HOOK, PROMPT, gather_result, gathering, playing_prompt


def test_the_terminator_ends_it_at_once() -> None:
    """Terminator: the digit that ends the gather at once; it is not part of `dtmf`."""
    story = gathering(terminator="#")
    story.press("1")
    story.press("2")
    assert [type(each) for each in story.press("#")] == [SendWebhook]
    assert gather_result(story) == {
        "event": "gather",
        "callId": ID,
        "dtmf": "12",
        "to": {"channelId": MAIN},
        "reason": "terminator",
        "customData": None,
    }
    assert story.state == "awaiting-instructions"


def test_the_terminator_may_come_first() -> None:
    """A terminator as the first digit is an empty result, not silence."""
    story = gathering(fallback=say())
    story.press("#")
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("", "terminator")


def test_an_empty_terminator_is_none() -> None:
    """`""` disables it: # is a digit like others."""
    story = gathering(terminator="", maxDigits=2)
    story.press("#")
    story.press("*")
    assert gather_result(story)["dtmf"] == "#*"


def test_max_digits_completes() -> None:
    """maxDigits: digits before completing."""
    story = gathering(maxDigits=4)
    for digit in "123":
        assert story.press(digit) == ()
    story.press("4")
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("1234", "max-digits")


@pytest.mark.parametrize("timeout", [3_000, 0])
def test_the_first_digit_has_its_own_clock(timeout: int) -> None:
    """timeout: ms until the first digit, and the grace for a key that is down; then the webhook."""
    story = gathering(timeout=timeout)
    began = story.now
    story.pass_deadline()
    assert story.now == began + timeout + GRACE_MS
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("", "timeout")


def test_the_fallback_runs_on_no_input() -> None:
    """When gather times out with no input, the fallback verb supplied by the caller runs."""
    story = gathering(timeout=3_000, fallback=say("nobody?"))
    assert [type(each) for each in story.pass_deadline()] == [FetchMedia]
    assert story.commands_of(SendWebhook) == []
    assert story.emitted[-1].reason == "timeout"


def test_the_gap_between_digits_has_its_own_clock() -> None:
    """digitTimeout: ms between digits; the digits so far are reported, no fallback runs."""
    story = gathering(digitTimeout=1_000, fallback=say())
    story.press("1")
    story.press("2", 900)
    began = story.now
    story.pass_deadline()
    assert story.now == began + 1_000 + GRACE_MS
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("12", "digit-timeout")


def test_a_key_that_went_down_in_time_counts() -> None:
    """Deadlines are compared with the key-down; the digit is reported at key-up."""
    story = gathering(timeout=3_000)
    story.press("1", after_ms=3_100, held_ms=150)
    assert story.state_as(Gathering).digits == "1"


def test_a_key_that_went_down_too_late_does_not() -> None:
    """A key-down after the phase's deadline is the timeout, even before the timer fires."""
    story = gathering(timeout=3_000)
    story.press("1", after_ms=3_100, held_ms=20)
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("", "timeout")


def test_a_late_second_key_does_not_count() -> None:
    """The same holds between digits."""
    story = gathering(digitTimeout=1_000)
    story.press("1")
    story.press("2", after_ms=1_100, held_ms=20)
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("1", "digit-timeout")


def test_the_verb_has_a_limit() -> None:
    """The verb's timeout, in seconds, limits every phase, also a playing prompt."""
    story = gathering(verb_timeout=2.0, audioUrl=HTTPS)
    story.deliver_media()
    assert [type(each) for each in story.pass_deadline()] == [StopPlayback, SendWebhook]
    assert gather_result(story)["reason"] == "timeout"


def test_the_limit_keeps_the_digits() -> None:
    """Digits before the limit are reported, and no fallback runs."""
    story = gathering(verb_timeout=2.0, fallback=say())
    story.press("1", 1_900)
    story.pass_deadline()
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("1", "timeout")


def test_a_key_that_went_down_before_the_limit_counts() -> None:
    """The limit is compared with the key-down, too."""
    story = gathering(verb_timeout=2.0)
    story.press("1", 1_950)
    story.pass_deadline()
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("1", "timeout")


def test_the_default_limit_is_an_hour() -> None:
    """Without a timeout of its own a gather is over within an hour."""
    story = gathering()
    assert story.state_as(Gathering).limit_ms == story.now + MAX_GATHER_MS


def test_custom_data_goes_to_the_webhook() -> None:
    """CustomData is sent to all action webhooks."""
    story = answered_call({"type": "gather", "action": HOOK}, custom_data={"order": 7})
    story.press("#")
    assert gather_result(story)["customData"] == {"order": 7}


def test_the_prompt_is_played_first() -> None:
    """The first-digit timer starts when the prompt ends."""
    story = gathering(audioUrl=HTTPS, timeout=3_000)
    assert story.state_as(Gathering).phase == "fetch"
    assert story.deliver_media() == (Play(MAIN, PROMPT, CLIPS),)
    story.take(PlaybackEnded(PROMPT), 4_000)
    assert story.state_as(Gathering).deadline_ms == story.now + 3_000 + GRACE_MS


def test_a_digit_stops_the_prompt() -> None:
    """Barge-in: a digit stops the prompt and starts the inter-digit timer."""
    story = playing_prompt(digitTimeout=1_000)
    assert story.press("1") == (StopPlayback(PROMPT),)
    assert story.state_as(Gathering).deadline_ms == story.now + 1_000 + GRACE_MS
    assert story.take(PlaybackEnded(PROMPT), 10) == ()
    assert story.state_as(Gathering).phase == "between"


@pytest.mark.parametrize(("key", "dtmf"), [("1", "1"), ("#", "")])
def test_the_last_digit_during_the_prompt(key: str, dtmf: str) -> None:
    """MaxDigits or the terminator during the prompt: it stops and the webhook is sent."""
    story = playing_prompt(maxDigits=1)
    assert [type(each) for each in story.press(key)] == [StopPlayback, SendWebhook]
    assert gather_result(story)["dtmf"] == dtmf


def test_a_digit_before_the_prompt_skips_it() -> None:
    """Audio that arrives later is not played."""
    story = gathering(audioUrl=HTTPS)
    story.press("1")
    assert story.take(MediaFetched(PROMPT, CLIPS), 10) == ()
    assert story.state_as(Gathering).digits == "1"


def test_a_failed_prompt_is_skipped() -> None:
    """Without audio, the first digit is awaited at once."""
    story = gathering(audioUrl=HTTPS)
    assert story.deliver_media(()) == ()
    assert story.state_as(Gathering).phase == "first"


def test_a_prompt_that_never_comes() -> None:
    """The fetch has a deadline; then the first digit is awaited."""
    story = gathering(audioUrl=HTTPS)
    began = story.now
    story.pass_deadline()
    assert story.now == began + FETCH_TIMEOUT_MS
    assert story.state_as(Gathering).phase == "first"


def test_a_prompt_that_never_ends_is_stopped() -> None:
    """A prompt that exceeds its length is stopped; then the first digit is awaited."""
    story = playing_prompt()
    began = story.now
    assert story.pass_deadline() == (StopPlayback(PROMPT),)
    assert story.now == began + 4_000 + PLAYBACK_GRACE_MS
    assert story.state_as(Gathering).phase == "first"
    assert [each.reason for each in story.emitted if each.event == "media-failed"] == ["cut_off"]


def test_an_outage_prolongs_the_clock_of_a_prompt() -> None:
    """The PBX may have stood still meanwhile; the verb's own timeout is not longer."""
    story = playing_prompt()
    story.take(Recovered(), PLAYBACK_GRACE_MS)
    began = story.now
    assert story.pass_deadline() == (StopPlayback(PROMPT),)
    assert story.now == began + 4_000 + PLAYBACK_GRACE_MS
    story = playing_prompt(verb_timeout=9.5)
    limit_ms = story.state_as(Gathering).limit_ms
    story.take(Recovered(), PLAYBACK_GRACE_MS)
    story.pass_deadline()
    assert story.now == limit_ms


def test_the_limit_includes_the_fetch() -> None:
    """A slow fetch does not keep the caller beyond the verb's timeout."""
    story = gathering(verb_timeout=2.0, audioUrl=HTTPS)
    began = story.now
    story.pass_deadline()
    assert (story.now, gather_result(story)["reason"]) == (began + 2_000 + GRACE_MS, "timeout")


def test_recovery_does_not_affect_a_prompt() -> None:
    """Media plays on while the engine is down; only the clock of its end is another one."""
    story = playing_prompt()
    before = story.state_as(Gathering)
    assert story.take(Recovered(), 500) == ()
    assert story.state_as(Gathering) == replace(before, deadline_ms=before.deadline_ms + 500)
