"""Other ends of a gather: webhooks that fail, legs that end, recovery."""

import pytest

from engine.calls.model.call_states import AwaitingInstructions, Gathering
from engine.calls.model.commands import Hangup
from engine.calls.model.events import DigitPressed, LegEnded, LegRinging, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.gather.clocks import GRACE_MS
from engine.calls.verbs.play import FETCH_TIMEOUT_MS
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, dialing_call, say
from tests.harness.calls.gathers import HOOK, gather_result, gathering


def test_a_gather_without_a_webhook() -> None:
    """An action object, or none, runs without a webhook."""
    story = gathering(action=say(), maxDigits=1)
    assert [type(each) for each in story.press("1")] == [FetchMedia]
    assert story.emitted[-1].dtmf == "1"
    story = gathering(action=None, maxDigits=1)
    assert story.press("1") == (Hangup(MAIN, 16),)


def test_a_failing_webhook_runs_the_fallback() -> None:
    """The fallback is kept while the webhook runs."""
    story = gathering(fallback=say())
    story.press("#")
    fallback = story.state_as(AwaitingInstructions).fallback
    assert fallback is not None
    assert [type(each) for each in story.pass_deadline()] == [FetchMedia]


def test_a_hangup_is_sent_to_the_webhook() -> None:
    """Reason `hangup`, with the digits; the response is not awaited."""
    story = gathering()
    story.press("1")
    assert [type(each) for each in story.hang_up()] == [SendWebhook]
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("1", "hangup")
    assert [event.event for event in story.emitted[-2:]] == ["gathered", "completed"]
    assert story.call.is_ended


def test_a_hangup_without_a_webhook() -> None:
    """Only an event reports it."""
    story = gathering(action=None)
    assert story.hang_up() == ()
    assert story.emitted[-2].reason == "hangup"


def test_an_unknown_leg() -> None:
    """ChannelId names a leg that has ended: the fallback runs, or the webhook gets `hangup`."""
    story = gathering(channelId="0-pbx1-abcdefgh.l9", fallback=say())
    assert story.state == "playing"
    story = gathering(channelId="0-pbx1-abcdefgh.l9")
    assert story.state == "awaiting-instructions"
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("", "hangup")


def test_resuming_on_the_same_leg() -> None:
    """channelId: resume on same leg."""
    story = gathering(channelId=MAIN, maxDigits=1)
    story.press("5")
    assert gather_result(story)["to"] == {"channelId": MAIN}


def test_the_end_of_the_leg_ends_its_gather() -> None:
    gather = {"type": "gather", "data": {"channelId": f"{ID}.l1"}, "action": HOOK}
    story = dialing_call("+4712345678", action=gather)
    story.pass_deadline()
    assert story.state_as(Gathering).leg == f"{ID}.l1"
    story.take(LegEnded(f"{ID}.l1", 16), 10)
    assert gather_result(story)["reason"] == "hangup"


@pytest.mark.parametrize(
    "event",
    [
        DigitPressed("other", "1", 0),
        MediaFetched("other", CLIPS),
        PlaybackEnded("other"),
        LegRinging(MAIN),
    ],
)
def test_unrelated_events_are_ignored(event: DigitPressed) -> None:
    """Another leg's digits and another request's audio change nothing."""
    story = gathering()
    before = story.call
    assert story.take(event) == ()
    assert story.call is before


@pytest.mark.parametrize("phase", ["fetch", "first", "between"])
def test_recovery_restarts_the_phase_clock(phase: str) -> None:
    """An outage is not the caller's silence."""
    story = gathering(timeout=3_000, digitTimeout=1_000, audioUrl=HTTPS)
    if phase != "fetch":
        story.deliver_media(())
    if phase == "between":
        story.press("1")
    given = {"fetch": FETCH_TIMEOUT_MS, "first": 3_000 + GRACE_MS, "between": 1_000 + GRACE_MS}
    story.take(Recovered(), 500)
    assert story.state_as(Gathering).phase == phase
    assert story.state_as(Gathering).deadline_ms == story.now + given[phase]


def test_gathers_may_nest_in_fallbacks() -> None:
    """The fallback of a gather may be a gather; after both timeouts the call ends."""
    inner = {"type": "gather", "data": {"timeout": 1_000, "fallback": say("bye")}}
    story = gathering(fallback=inner, timeout=1_000)
    story.pass_deadline()
    assert story.state == "gathering"
    story.pass_deadline()
    assert story.state == "playing"
