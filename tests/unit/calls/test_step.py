"""Every event in every state: the rules that always hold."""

import pytest
from msgspec.structs import replace

from engine.calls.model import events
from engine.calls.model.call import is_expected
from engine.calls.model.call_states import Advance, Ended
from engine.calls.model.commands import Hangup
from engine.calls.model.io_results import ActionFailed, ActionReceived, MediaFetched
from engine.calls.model.requests import HangupRequested
from engine.calls.states import deadline_ms
from engine.calls.step import step
from tests.harness.calls.builders import (
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    NOW,
    Story,
    answered_call,
    say,
    tree,
)
from tests.harness.calls.invariants import assert_sound
from tests.harness.calls.states import STATES, ended
from wire.base import tag_of


def events_for(story: Story) -> list[events.Event]:
    """List every kind of event, about what the call knows and about what it does not."""
    legs = [MAIN, f"{ID}.l1", f"{ID}.l9"]
    state = story.call.state
    request = getattr(state, "request", f"{ID}.r1")
    bridge = getattr(state, "bridge", f"{ID}.b1")
    about_legs: list[events.Event] = [
        event
        for leg in legs
        for event in (
            events.LegCreated(leg),
            events.LegRinging(leg),
            events.LegAnswered(leg),
            events.LegEnded(leg, 17, 486),
            events.LegEnded(leg, 0),
            events.DigitPressed(leg, "1", story.now),
            events.DigitPressed(leg, "#", story.now),
        )
    ]
    return [
        *about_legs,
        MediaFetched(request, CLIPS),
        MediaFetched(request, ()),
        events.PlaybackEnded(request),
        ActionReceived(request, tree(say())),
        ActionReceived(request, HTTPS),
        ActionReceived(request, None),
        ActionFailed(request, "status_500"),
        ActionReceived("other", None),
        events.BridgeFailed(bridge, "no"),
        HangupRequested("api"),
        events.DeadlinePassed(),
        events.Recovered(),
    ]


@pytest.mark.parametrize("state", STATES)
def test_every_event_in_every_state(state: str) -> None:
    """Every state accepts every event; afterwards the call is valid."""
    for place, _ in enumerate(events_for(STATES[state]())):
        story = STATES[state]()
        event = events_for(story)[place]
        commands = story.take(event, 10)
        assert_sound(story.call, commands, story.now)
        numbers = [event.sequence_number for event in story.emitted]
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(
    "state", [name for name in STATES if name not in {"archiving-recordings", "ended"}]
)
def test_a_hangup_ends_every_state(state: str) -> None:
    """All legs are hung up, and the rest of the tree is dropped."""
    story = STATES[state]()
    legs = {leg.id for leg in story.call.legs}
    commands = story.take(HangupRequested("api"), 10)
    if state != "ending":
        assert {each.leg for each in commands if isinstance(each, Hangup)} == legs
    for leg in legs:
        story.take(events.LegEnded(leg, 16), 10)
    for request in {each.archive_request for each in story.call.recordings}:
        story.take(events.RecordingsArchived(request, 1_000))
    assert story.call.is_ended
    assert deadline_ms(story.call) is None
    assert [event.event for event in story.emitted].count("completed") == 1


@pytest.mark.parametrize("state", [name for name in STATES if name != "ended"])
def test_time_alone_ends_every_state(state: str) -> None:
    """No call waits forever, whatever is lost."""
    story = STATES[state]()
    for _ in range(50):
        if story.call.is_ended:
            break
        story.pass_deadline()
    assert story.call.is_ended


@pytest.mark.parametrize("state", STATES)
def test_the_end_of_the_main_leg_in_every_state(state: str) -> None:
    """It ends the call."""
    story = STATES[state]()
    story.hang_up()
    assert all(leg.id != MAIN for leg in story.call.legs)
    assert story.state in {"ending", "archiving-recordings", "ended"}


def test_a_stored_advance_continues() -> None:
    """Advance is transient; if one is stored all the same, its action starts."""
    story = answered_call(say())
    stuck = replace(story.call, state=Advance(tree(say()), "start"))
    assert deadline_ms(stuck) is None
    call, commands = step(stuck, events.Recovered(), NOW)
    assert tag_of(call.state) == "playing"
    assert commands


def test_an_ended_call_expects_no_leg() -> None:
    assert not is_expected(ended().call, MAIN)
    assert isinstance(ended().call.state, Ended)
