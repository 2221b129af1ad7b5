"""hangup, and every other end of a call."""

import pytest
from msgspec.structs import replace

from engine.calls.model import events
from engine.calls.model.call_states import Ending
from engine.calls.model.commands import Hangup
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.requests import HangupRequested
from engine.calls.verbs.call_end import HANGUP_TIMEOUT_MS, MAX_HANGUP_RETRIES
from tests.harness.calls.builders import MAIN, Story, answered_call, dialing_call, inbound, say

ENDED = events.LegEnded(MAIN, 16)


def test_a_hangup_verb_ends_the_call() -> None:
    """hangup: clean call termination; an action after it never runs."""
    story = answered_call({"type": "hangup", "data": {}, "action": say()})
    assert story.commands_of(Hangup) == [Hangup(MAIN, 16)]
    story.take(ENDED, 5_000)
    last = story.emitted[-1]
    assert (last.event, last.call_status, last.ended_by) == ("completed", "completed", "action")
    assert (last.hangup_cause, last.duration) == (16, 5)
    assert story.call.ended_ms == story.now


def test_a_requested_hangup_ends_the_call() -> None:
    """It works in every state; a second request changes nothing."""
    story = answered_call(say())
    assert story.take(HangupRequested("api")) == (Hangup(MAIN, 16),)
    before = story.call
    assert story.take(HangupRequested("system")) == ()
    assert story.call is before
    story.take(ENDED)
    assert (story.call.status, story.call.ended_by) == ("completed", "api")


def test_hangups_are_repeated() -> None:
    """After each deadline the remaining legs are hung up again; then the reaper takes over."""
    story = answered_call({"type": "hangup"})
    for _ in range(MAX_HANGUP_RETRIES):
        began = story.now
        assert story.pass_deadline() == (Hangup(MAIN, 16, is_repeated=True),)
        assert story.now == began + HANGUP_TIMEOUT_MS
    assert story.pass_deadline() == ()
    assert story.call.is_ended
    assert story.call.legs == ()


def test_recovery_restarts_the_deadline() -> None:
    """Hangups in the outbox are repeated by recovery, not by the step."""
    story = answered_call({"type": "hangup"})
    story.now += HANGUP_TIMEOUT_MS - 1
    assert story.take(events.Recovered()) == ()
    assert story.state_as(Ending) == Ending(story.now + HANGUP_TIMEOUT_MS)
    assert story.pass_deadline() == (Hangup(MAIN, 16, is_repeated=True),)


def test_all_legs_are_waited_for() -> None:
    """The call ends with its last leg; each end is reported."""
    story = dialing_call("+4712345678")
    other = story.call.legs[-1].id
    story.take(HangupRequested("api"))
    story.take(ENDED)
    assert not story.call.is_ended
    story.take(events.LegEnded(other, 16))
    assert story.call.is_ended
    assert [event.event for event in story.emitted[-2:]] == ["leg-completed", "completed"]
    assert story.emitted[-2].leg_status == "canceled"


def test_other_events_are_ignored_while_ending() -> None:
    """Digits and responses are too late."""
    story = answered_call({"type": "hangup"})
    before = story.call
    for event in (events.DigitPressed(MAIN, "1", story.now), ActionReceived("r", None)):
        assert story.take(event) == ()
    assert story.call is before


@pytest.mark.parametrize(
    "event", [events.LegCreated(MAIN), events.LegRinging(MAIN), events.LegAnswered(MAIN)]
)
def test_a_leg_that_comes_after_the_end_is_hung_up(event: events.LegCreated) -> None:
    """An ended call only hangs up stray legs."""
    story = answered_call({"type": "hangup"})
    story.take(ENDED)
    count = len(story.emitted)
    assert story.take(event) == (Hangup(MAIN, 16),)
    assert story.take(ENDED) == ()
    assert story.take(HangupRequested("api")) == ()
    assert len(story.emitted) == count


def test_a_caller_who_hangs_up_after_the_answer() -> None:
    """Every end after an answer is `completed`."""
    story = Story(inbound(say()))
    story.take(events.CallOpened())
    story.take(events.LegAnswered(story.call.main), 100)
    story.hang_up(19)
    assert (story.call.status, story.call.ended_by) == ("completed", "caller")


def test_the_time_limit_of_a_call() -> None:
    """The call ends at its time limit in every state."""
    story = answered_call({"type": "gather", "data": {"timeout": 600_000}})
    story.call = replace(story.call, must_end_ms=story.now + 5_000)
    assert story.pass_deadline() == (Hangup(MAIN, 16),)
    assert (story.call.ended_by, story.call.reason) == ("system", "longest_call")
