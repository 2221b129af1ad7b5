"""hangup, and every other way to the end (spec, Verbs; design section 3.7)."""

import pytest
from msgspec.structs import replace

from engine.calls.model.commands import Hangup
from engine.calls.model.events import (
    CallOpened,
    DigitPressed,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
    Recovered,
)
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.requests import HangupRequested
from engine.calls.model.state import Ending
from engine.calls.verbs.hangup import HANGUP_TIMEOUT_MS, MAX_HANGUP_RETRIES
from tests.unit.calls.harness.builders import MAIN, Story, answered_call, dialing_call, inbound, say

ENDED = LegEnded(MAIN, 16)


def test_a_hangup_verb_ends_the_call() -> None:
    """hangup: clean call termination; an action after it never runs."""
    story = answered_call({"type": "hangup", "data": {}, "action": say()})
    assert story.commands_of(Hangup) == [Hangup(MAIN, 16)]
    story.take(ENDED, 5_000)
    last = story.emitted[-1]
    assert (last.event, last.call_status, last.ended_by) == ("completed", "completed", "action")
    assert (last.hangup_cause, last.duration) == (16, 5)
    assert story.call.ended_ms == story.now


def test_a_requested_hangup_ends_anything() -> None:
    """Hangup during anything is one rule; a second request adds nothing."""
    story = answered_call(say())
    assert story.take(HangupRequested("api")) == (Hangup(MAIN, 16),)
    before = story.call
    assert story.take(HangupRequested("system")) == ()
    assert story.call is before
    story.take(ENDED)
    assert (story.call.status, story.call.ended_by) == ("completed", "api")


def test_legs_that_do_not_go_are_told_again() -> None:
    """After each deadline the remaining legs are told again, then the reaper has them."""
    story = answered_call({"type": "hangup"})
    for _ in range(MAX_HANGUP_RETRIES):
        began = story.now
        assert story.pass_deadline() == (Hangup(MAIN, 16),)
        assert story.now == began + HANGUP_TIMEOUT_MS
    assert story.pass_deadline() == ()
    assert story.call.is_ended
    assert story.call.legs == ()


def test_a_recovery_gives_them_their_time_again() -> None:
    """What may be lost is done again from the outbox; what was done is not wanted twice."""
    story = answered_call({"type": "hangup"})
    story.now += HANGUP_TIMEOUT_MS - 1
    assert story.take(Recovered()) == ()
    assert story.state_as(Ending) == Ending(story.now + HANGUP_TIMEOUT_MS)
    assert story.pass_deadline() == (Hangup(MAIN, 16),)


def test_all_legs_are_waited_for() -> None:
    """The call is over when the last leg has ended; each end is told."""
    story = dialing_call("+4712345678")
    other = story.call.legs[-1].id
    story.take(HangupRequested("api"))
    story.take(ENDED)
    assert not story.call.is_ended
    story.take(LegEnded(other, 16))
    assert story.call.is_ended
    assert [event.event for event in story.emitted[-2:]] == ["leg-completed", "completed"]
    assert story.emitted[-2].leg_status == "canceled"


def test_while_it_ends_nothing_else_counts() -> None:
    """Digits and answers are too late."""
    story = answered_call({"type": "hangup"})
    before = story.call
    for event in (DigitPressed(MAIN, "1", story.now), ActionReceived("r", None)):
        assert story.take(event) == ()
    assert story.call is before


@pytest.mark.parametrize("event", [LegCreated(MAIN), LegRinging(MAIN), LegAnswered(MAIN)])
def test_a_leg_that_comes_after_the_end_is_hung_up(event: LegCreated) -> None:
    """An ended call emits nothing but hangups of strays."""
    story = answered_call({"type": "hangup"})
    story.take(ENDED)
    told = len(story.emitted)
    assert story.take(event) == (Hangup(MAIN, 16),)
    assert story.take(ENDED) == ()
    assert story.take(HangupRequested("api")) == ()
    assert len(story.emitted) == told


def test_a_caller_who_hangs_up_after_the_answer() -> None:
    """Anything after an answer is completed."""
    story = Story(inbound(say()))
    story.take(CallOpened())
    story.take(LegAnswered(story.call.main), 100)
    story.hang_up(19)
    assert (story.call.status, story.call.ended_by) == ("completed", "caller")


def test_no_call_lives_longer_than_the_longest() -> None:
    """At its latest moment a call ends, whatever it does."""
    story = answered_call({"type": "gather", "data": {"timeout": 600_000}})
    story.call = replace(story.call, must_end_ms=story.now + 5_000)
    assert story.pass_deadline() == (Hangup(MAIN, 16),)
    assert (story.call.ended_by, story.call.reason) == ("system", "longest_call")
