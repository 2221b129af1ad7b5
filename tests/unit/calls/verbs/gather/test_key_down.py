"""A digit belongs to the menu in which its key went down, however long it is held."""

import pytest

from engine.calls.model.call_states import Gathering
from engine.calls.model.events import DeadlinePassed, DigitPressed, DigitStarted
from engine.calls.recovery.missed_digits import ARI_DELAY_MS, keys_at_deadline
from engine.calls.verbs.gather.clocks import GRACE_MS, MAX_KEY_DOWN_MS
from tests.harness.calls import screenings
from tests.harness.calls.ami_digits import ami_digit, ari_digit, by_leg
from tests.harness.calls.builders import HTTPS, MAIN, Story, say
from tests.harness.calls.gathers import HOOK, gather_result, gathering

FALLBACK = {"type": "gather", "data": {"maxDigits": 1, "text": "to cancel"}, "action": HTTPS}


def at_deadline(story: Story) -> None:
    """Set the time to that of the gather's deadline."""
    story.now = story.state_as(Gathering).deadline_ms


def release(story: Story, digit: str, down_ms: int, after_ms: int, leg: str = MAIN) -> None:
    """Release a key that went down at a time, so long after now."""
    held_ms = story.now + after_ms - down_ms
    story.take(DigitPressed(leg, digit, down_ms, held_ms), after_ms)


def test_a_key_held_over_a_timeout_is_not_for_the_next_menu() -> None:
    """Without AMI the gather ends after the grace; the digit is for no other menu."""
    story = gathering(timeout=3_000, maxDigits=1, fallback=FALLBACK)
    down_ms = story.now + 2_900
    story.pass_deadline()
    release(story, "1", down_ms, 200)
    assert story.state_as(Gathering).digits == ""
    story.press("1", after_ms=300)
    assert story.emitted[-1].dtmf == "1"


def test_a_key_held_over_a_timeout_is_not_typed_ahead() -> None:
    """Neither for the menu of the webhook's response."""
    story = gathering(digitTimeout=1_000)
    story.press("1")
    down_ms = story.now + 900
    story.pass_deadline()
    release(story, "2", down_ms, 200)
    assert story.leg(MAIN).typed_ahead == ()
    story.press("3", after_ms=100)
    assert [each.digit for each in story.leg(MAIN).typed_ahead] == ["3"]


@pytest.mark.parametrize("held_ms", [130, 3_000, MAX_KEY_DOWN_MS])
def test_the_clock_waits_for_a_key_that_is_down(held_ms: int) -> None:
    """AMI reports it at the deadline; its release counts."""
    story = gathering(digitTimeout=1_000, maxDigits=3)
    story.press("1")
    down_ms = story.now + 990
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    story.now = down_ms + held_ms
    story.take(DigitPressed(MAIN, "2", down_ms, held_ms))
    state = story.state_as(Gathering)
    assert (state.digits, state.deadline_ms) == ("12", story.now + 1_000 + GRACE_MS)


def test_the_wait_is_bounded() -> None:
    """The release of a key may never be reported."""
    story = gathering(digitTimeout=1_000)
    story.press("1")
    down_ms = story.now + 500
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    assert story.state_as(Gathering).deadline_ms == down_ms + MAX_KEY_DOWN_MS
    at_deadline(story)
    before = story.call
    story.take(DigitStarted(MAIN, down_ms))
    assert story.call is before
    story.take(DeadlinePassed())
    assert gather_result(story)["reason"] == "digit-timeout"


@pytest.mark.parametrize(("after_ms", "waits"), [(1_000, True), (1_001, False)])
def test_a_key_that_went_down_too_late_is_not_waited_for(after_ms: int, waits: bool) -> None:
    """The key-down is compared with the time that the customer set, to the millisecond."""
    story = gathering(timeout=1_000)
    down_ms = story.now + after_ms
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    assert (story.state_as(Gathering).deadline_ms > story.now) == waits


def test_a_key_held_over_the_limit_of_the_verb() -> None:
    """It counts; then the limit has passed."""
    story = gathering(verb_timeout=2.0, timeout=60_000)
    down_ms = story.now + 1_990
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    release(story, "1", down_ms, 500)
    story.pass_deadline()
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("1", "timeout")


def test_a_key_of_an_earlier_menu_is_not_waited_for() -> None:
    """It went down before the timeout of that menu."""
    story = gathering(action=HOOK, timeout=3_000, fallback={**FALLBACK, "data": {"timeout": 100}})
    down_ms = story.now + 2_990
    story.pass_deadline()
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    assert story.state_as(Gathering).deadline_ms == story.now


def test_another_leg_or_a_prompt_is_not_affected() -> None:
    """Only the clocks that end a gather wait, and only for its own leg."""
    story = gathering(audioUrl=HTTPS)
    story.deliver_media()
    before = story.call
    at_deadline(story)
    story.take(DigitStarted(MAIN, story.now - 500))
    story.take(DigitStarted("other", story.now - 500))
    assert story.call is before


def test_keys_are_reported_at_a_deadline_only() -> None:
    """Keys that are down on a gather's leg, or were released so late that ARI may be behind."""
    story = gathering(timeout=2_000)
    at_deadline(story)
    key = ami_digit(ari_digit(story, "1", -ARI_DELAY_MS + 1), lag_ms=0)
    down = {MAIN: story.now - 200, "other": story.now - 100}
    assert keys_at_deadline(story.call, down, {}, story.now) == (
        DigitStarted(MAIN, story.now - 200),
    )
    assert keys_at_deadline(story.call, {}, by_leg((key,)), story.now) == (
        DigitStarted(MAIN, key.pressed_ms),
    )
    assert keys_at_deadline(story.call, {}, by_leg((key,)), story.now + 1) == ()
    assert keys_at_deadline(story.call, down, {}, story.now - 1) == ()


def test_no_gather_no_wait() -> None:
    """A prompt does not wait for keys."""
    story = gathering(say(), maxDigits=1)
    story.press("1")
    assert keys_at_deadline(story.call, {MAIN: story.now}, {}, story.now + 60_000) == ()


def test_a_leg_in_screening() -> None:
    """Its confirmation waits for its own key."""
    story = screenings.screening_call(**screenings.CONFIRM)
    screenings.deliver_media(story)
    story.now = screenings.screening_of(story).state.deadline_ms
    story.pass_deadline()
    down_ms = screenings.screening_of(story).state.deadline_ms - GRACE_MS - 10
    story.now = down_ms + GRACE_MS + 10
    [key] = keys_at_deadline(story.call, {screenings.FIRST: down_ms}, {}, story.now)
    story.take(key)
    release(story, "1", down_ms, 900, screenings.FIRST)
    assert story.state == "bridged"


def test_a_spare_terminator_ends_the_wait_for_its_key() -> None:
    """The key that was down at the deadline is that of `12#`: the gather ends at its release."""
    second = {"type": "gather", "data": {"maxDigits": 1, "timeout": 1_000}, "action": HOOK}
    story = gathering(second, maxDigits=2)
    story.press("1")
    story.press("2")
    down_ms = story.now + 500
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    assert story.state_as(Gathering).awaits_key_up
    story.now = down_ms + 2_000
    story.take(DigitPressed(MAIN, "#", down_ms, 2_000))
    ended = [(each.dtmf, each.reason) for each in story.emitted if each.event == "gathered"]
    assert ended == [("12", "max-digits"), ("", "timeout")]


def test_a_spare_terminator_after_the_limit_of_a_prompt() -> None:
    """The gather has ended by its own timeout: its prompt has not failed."""
    data = {"maxDigits": 1, "text": "to cancel"}
    story = gathering({"type": "gather", "timeout": 3, "data": data, "action": HOOK}, maxDigits=2)
    story.press("1")
    story.press("2")
    story.deliver_media()
    down_ms = story.now + 500
    at_deadline(story)
    story.take(DigitStarted(MAIN, down_ms))
    assert story.state_as(Gathering).awaits_key_up
    release(story, "#", down_ms, 1_000)
    assert [each.event for each in story.emitted][-2:] == ["gathered", "gathered"]
    assert story.emitted[-1].reason == "timeout"


def test_a_key_is_not_waited_for_by_a_gather_of_speech() -> None:
    """It takes no digits, so its time is over."""
    story = gathering(input=["speech"], timeout=2_000)
    before = story.call.state
    state = story.state_as(Gathering)
    story.take(DigitStarted(MAIN, state.deadline_ms - GRACE_MS - 50), 1_900)
    assert story.call.state == before


@pytest.mark.parametrize(
    ("held_ms", "digits"),
    [(40, "1"), (100, "1"), (10_000, "1")],
    ids=["held", "info", "info of ten seconds"],
)
def test_no_key_goes_down_before_the_answer(held_ms: int, digits: str) -> None:
    """A phone names a hold of its own in SIP INFO, longer than the call: the digit counts."""
    story = gathering(timeout=5_000)
    story.take(DigitPressed(MAIN, "1", story.now + 60 - held_ms, held_ms), 60)
    assert story.state_as(Gathering).digits == digits
