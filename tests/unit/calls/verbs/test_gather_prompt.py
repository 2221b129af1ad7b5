"""gather's prompt: barge-in, and audio that does not come or does not end (spec, Verbs)."""

import pytest

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Play, StopPlayback
from engine.calls.model.events import PlaybackEnded, Recovered
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.gather import GRACE_MS
from engine.calls.verbs.play import FETCH_TIMEOUT_MS
from engine.calls.verbs.play import GRACE_MS as PLAYBACK_GRACE_MS
from tests.unit.calls.harness.builders import CLIPS, HTTPS, MAIN
from tests.unit.calls.harness.gathers import PROMPT, gather_result, gathering, playing_prompt


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


def test_the_limit_includes_the_fetch() -> None:
    """A slow fetch does not keep the caller beyond the verb's timeout."""
    story = gathering(verb_timeout=2.0, audioUrl=HTTPS)
    began = story.now
    story.pass_deadline()
    assert (story.now, gather_result(story)["reason"]) == (began + 2_000 + GRACE_MS, "timeout")


def test_recovery_does_not_affect_a_prompt() -> None:
    """Media plays on while the engine is down."""
    story = playing_prompt()
    before = story.call
    story.take(Recovered(), 500)
    assert story.call is before
