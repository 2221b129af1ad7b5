"""A party that was dialled in answers: it joins a conversation, or interrupts the current verb."""

from collections.abc import Callable

import pytest

from engine.calls.model.call_states import Bridged, Dialing, Gathering, Playing
from engine.calls.model.causes import ANSWERED_ELSEWHERE, NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Hangup,
    Play,
    RemoveFromBridge,
    StopPlayback,
    StopRinging,
)
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from tests.harness.calls.builders import (
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    Story,
    WithRequest,
    answered_call,
    bridged_call,
    dialing_call,
    say,
)
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    CAROL,
    DAN,
    PEER,
    bridged_legs,
    dial_into,
    hold,
    media_of,
)

GATHER = {"type": "gather", "data": {"audioUrl": HTTPS}, "action": HTTPS}


class Prompting(WithRequest):
    """A state with a verb and a prompt."""

    verb: object


def playing(action: object = None) -> Story:
    """Return a call that plays."""
    story = answered_call(say(action=action))
    story.deliver_media()
    return story


def gathering() -> Story:
    """Return a call that plays the prompt of a gather."""
    story = answered_call(GATHER)
    story.deliver_media()
    return story


def test_into_a_conversation() -> None:
    """It joins the two; when one of them leaves, the others talk on."""
    story = bridged_call(BOB)
    leg = dial_into(story, state="ringback")
    assert story.take(LegAnswered(leg), 500) == (AddToBridge(BRIDGE, (leg,)),)
    assert story.take(LegEnded(PEER, NORMAL), 500) == ()
    assert bridged_legs(story) == {MAIN, leg}
    assert story.state_as(Bridged).leg == PEER


@pytest.mark.parametrize("make", [playing, gathering])
def test_into_a_prompt(make: Callable[[], Story]) -> None:
    """The prompt is stopped and the two talk; afterwards the verb restarts."""
    story = make()
    request, verb = story.state_as(Prompting).request, story.state_as(Prompting).verb
    leg = dial_into(story, state="ringback")
    commands = story.take(LegAnswered(leg), 500)
    room = story.state_as(Bridged).bridge
    assert commands == (StopPlayback(request), AddToBridge(room, (MAIN, leg)))
    commands = story.take(LegEnded(leg, NORMAL), 9_000)
    assert commands[:2] == (RemoveFromBridge(room, MAIN), DestroyBridge(room))
    assert isinstance(commands[-1], FetchMedia)
    assert story.state_as(Prompting).verb == verb


def test_before_the_prompt_is_fetched() -> None:
    """Nothing is stopped; audio that arrives meanwhile is not played."""
    story = answered_call(say())
    request = story.state_as(Playing).request
    leg = dial_into(story)
    assert isinstance(story.take(LegAnswered(leg))[0], AddToBridge)
    assert story.take(MediaFetched(request, CLIPS)) == ()
    assert story.commands_of(Play) == []


def test_while_digits_are_awaited() -> None:
    """There is no playback to stop; the gather restarts afterwards."""
    story = answered_call({"type": "gather", "action": HTTPS})
    story.press("1")
    leg = dial_into(story, state="ringback")
    assert isinstance(story.take(LegAnswered(leg))[0], AddToBridge)
    story.take(LegEnded(leg, NORMAL))
    assert story.state_as(Gathering).digits == ""


def test_an_agent_is_dialled_in() -> None:
    """Its events are those of a dialled leg."""
    story = playing()
    leg = dial_into(story, DAN, state="answered")
    assert story.state_as(Bridged).verb.data.agent_id == "9"
    assert story.state_as(Bridged).leg == leg


def test_into_a_dial() -> None:
    """It is one more ringing leg: the first to answer wins."""
    story = dialing_call(BOB)
    leg = dial_into(story)
    assert story.state_as(Dialing).legs == (PEER, leg)
    commands = story.take(LegAnswered(leg), 500)
    assert commands[0] == StopRinging(MAIN)
    assert commands[-1] == Hangup(PEER, ANSWERED_ELSEWHERE)
    assert story.state_as(Bridged).number == CAROL


def test_a_dial_keeps_its_timeout() -> None:
    """A shorter ring timeout does not shorten the dial for the others."""
    story = dialing_call(BOB, timeout=60)
    leg = dial_into(story)
    until = story.state_as(Dialing).deadline_ms
    story.take(LegCreated(leg), 100)
    assert story.state_as(Dialing).deadline_ms == until


def test_invited_before_a_dial() -> None:
    """Its answer counts as one of the dial's."""
    story = playing({"type": "dial", "data": {"number": BOB}})
    leg = dial_into(story, state="ringback")
    story.pass_deadline()
    assert (story.state_as(Dialing).legs, story.call.invited) == ((f"{ID}.l3",), (leg,))
    story.take(LegAnswered(leg))
    assert (story.state_as(Bridged).leg, story.call.invited) == (leg, ())
    assert Hangup(f"{ID}.l3", ANSWERED_ELSEWHERE) in story.commands


def test_into_a_call_on_hold() -> None:
    """If the main leg is on hold, the new party waits until it is taken off."""
    story = answered_call(say())
    story.take(hold(MAIN))
    leg = dial_into(story, state="answered")
    assert (media_of(story, MAIN).sound, bridged_legs(story)) == ("music", {leg})
