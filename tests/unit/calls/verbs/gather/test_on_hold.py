"""A gather whose leg is put on hold: the prompt and the clocks stop, digits are ignored."""

from typing import Any

import pytest

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Play, StartHoldMusic, StopHoldMusic, StopPlayback
from engine.calls.model.events import DigitPressed, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.gather.clocks import GRACE_MS
from engine.calls.verbs.play import FETCH_TIMEOUT_MS, HANGUP_GRACE_MS
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, Story, answered_call, say
from tests.harness.calls.control import hold, unhold
from wire.media import Speech

DATA = {"timeout": 4_000, "digitTimeout": 1_500, "maxDigits": 3}


def gathering_in(phase: str, **more: Any) -> Story:
    """Return a call in a phase of a gather."""
    prompt = {} if phase in {"first", "between"} else {"audioUrl": HTTPS}
    story = answered_call({"type": "gather", "data": DATA | prompt, "action": HTTPS, **more})
    if phase == "prompt":
        story.deliver_media()
    if phase == "between":
        story.press("1")
    assert story.state_as(Gathering).phase == phase
    return story


@pytest.mark.parametrize("phase", ["fetch", "prompt", "first", "between"])
def test_digits_are_ignored(phase: str) -> None:
    """In every phase; the clocks stop, and only the call's own limit remains."""
    story = gathering_in(phase, timeout=20)
    story.take(hold(MAIN), 500)
    assert story.state_as(Gathering).deadline_ms == story.call.must_end_ms
    before = story.call
    assert story.press("7") == ()
    assert story.press("#") == ()
    assert story.call is before


def test_the_prompt_resumes() -> None:
    """It stops, then continues from its position; then the first digit is awaited."""
    story = gathering_in("prompt")
    request = story.state_as(Gathering).request
    assert story.take(hold(MAIN), 1_500) == (StopPlayback(request), StartHoldMusic(MAIN))
    play = Play(MAIN, f"{ID}.p2", CLIPS, 1_500)
    assert story.take(unhold(MAIN), 60_000) == (StopHoldMusic(MAIN), play)
    assert story.press("1", 100) == (StopPlayback(play.playback),)


def test_a_prompt_that_had_ended() -> None:
    """Held in its last moment: the first digit is awaited at once."""
    story = gathering_in("prompt")
    story.take(hold(MAIN), 4_000)
    assert story.take(unhold(MAIN)) == (StopHoldMusic(MAIN),)
    assert story.state_as(Gathering).phase == "first"


@pytest.mark.parametrize("is_resumed", [True, False])
def test_a_prompt_that_had_failed(is_resumed: bool) -> None:
    """It is not played again, and `onError` runs after the same time."""
    story = gathering_in("prompt", onError=say("failed"))
    request, failed_ms = story.state_as(Gathering).request, story.now
    story.take(PlaybackEnded(request, failed=True))
    assert story.take(hold(MAIN), 50) == (StartHoldMusic(MAIN),)
    assert story.press("7", 0) == ()
    if is_resumed:
        assert story.take(unhold(MAIN), 50) == (StopHoldMusic(MAIN),)
    assert story.pass_deadline()[-1] == FetchMedia(f"{ID}.p2", (Speech("failed"),))
    assert story.now == failed_ms + HANGUP_GRACE_MS


def test_a_prompt_that_fails_before_a_hold() -> None:
    """Without `onError`, the clock of the first digit begins with the end of the hold."""
    story = gathering_in("prompt")
    story.take(PlaybackEnded(story.state_as(Gathering).request, failed=True))
    story.take(hold(MAIN), 50)
    story.pass_deadline()
    state = story.state_as(Gathering)
    assert (state.phase, state.deadline_ms) == ("first", story.call.must_end_ms)
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Gathering).deadline_ms == story.now + DATA["timeout"] + GRACE_MS


def test_held_while_the_prompt_is_fetched() -> None:
    """The prompt waits until the hold ends."""
    story = gathering_in("fetch")
    story.take(hold(MAIN))
    assert story.deliver_media() == ()
    assert isinstance(story.take(unhold(MAIN), 60_000)[-1], Play)


def test_a_prompt_that_cannot_be_fetched() -> None:
    """The first digit has its whole time after the hold."""
    story = gathering_in("fetch")
    story.take(hold(MAIN))
    assert story.deliver_media(()) == ()
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Gathering).phase == "first"
    assert story.state_as(Gathering).deadline_ms == story.now + 4_000 + GRACE_MS


def test_the_fetch_continues_after_the_hold() -> None:
    """The fetch gets its whole time again."""
    story = gathering_in("fetch")
    story.take(hold(MAIN))
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Gathering).deadline_ms == story.now + FETCH_TIMEOUT_MS
    assert isinstance(story.take(MediaFetched(f"{ID}.p1", CLIPS))[-1], Play)


@pytest.mark.parametrize(("phase", "given_ms"), [("first", 4_000), ("between", 1_500)])
def test_a_clock_restarts_after_the_hold(phase: str, given_ms: int) -> None:
    """The next digit has its whole time; the digits so far are kept."""
    story = gathering_in(phase)
    digits = story.state_as(Gathering).digits
    story.take(hold(MAIN), 1_000)
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Gathering).deadline_ms == story.now + given_ms + GRACE_MS
    story.press("2")
    assert story.state_as(Gathering).digits == digits + "2"


def test_the_limit_is_extended() -> None:
    """The time that was left at the start of the hold is left at its end."""
    story = gathering_in("first", timeout=5)
    story.take(hold(MAIN), 3_000)
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Gathering).deadline_ms == story.now + 2_000 + GRACE_MS


def test_a_gather_that_starts_on_hold() -> None:
    """It waits until the hold ends."""
    story = answered_call(say(action={"type": "gather", "data": DATA, "action": HTTPS}))
    story.take(hold(MAIN))
    story.deliver_media(())
    assert story.state_as(Gathering).suspended
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Gathering).deadline_ms == story.now + 4_000 + GRACE_MS


def test_recovery_during_a_hold() -> None:
    """The clocks stay stopped."""
    story = gathering_in("first")
    story.take(hold(MAIN), 1_000)
    before = story.call
    assert story.take(Recovered()) == ()
    assert story.call is before


def test_a_key_released_during_the_hold() -> None:
    """It is ignored; the next after the hold is not."""
    story = gathering_in("between")
    story.take(hold(MAIN), 100)
    story.take(DigitPressed(MAIN, "2", story.now - 50), 50)
    story.take(unhold(MAIN))
    story.press("3")
    story.press("#")
    assert b'"13"' in story.commands_of(SendWebhook)[-1].body
