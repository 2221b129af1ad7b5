"""A dialled-in party answers: it joins whoever talks, or interrupts what the call does."""

from collections.abc import Callable

import pytest

from engine.calls.model.causes import NORMAL
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
from engine.calls.model.state import Bridged, Dialing, Gathering, Playing
from tests.unit.calls.harness.builders import (
    CLIPS,
    HTTPS,
    ID,
    MAIN,
    Story,
    WithRequest,
    called,
    dialing,
    say,
    talking,
)
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    CAROL,
    DAN,
    PEER,
    dialled_into,
    hold,
    seat,
    together,
)

GATHER = {"type": "gather", "data": {"audioUrl": HTTPS}, "action": HTTPS}


class Prompting(WithRequest):
    """A state with a verb and a prompt."""

    verb: object


def playing(action: object = None) -> Story:
    """Make a call that plays."""
    story = called(say(action=action))
    story.fetched()
    return story


def gathering() -> Story:
    """Make a call that plays the prompt of a gather."""
    story = called(GATHER)
    story.fetched()
    return story


def test_into_a_conversation() -> None:
    """It joins the two; when one of them goes, the others talk on."""
    story = talking(BOB)
    leg = dialled_into(story, state="ringback")
    assert story.take(LegAnswered(leg), 500) == (AddToBridge(BRIDGE, (leg,)),)
    assert story.take(LegEnded(PEER, NORMAL), 500) == ()
    assert together(story) == {MAIN, leg}
    assert story.state_as(Bridged).leg == PEER


@pytest.mark.parametrize("make", [playing, gathering])
def test_into_a_prompt(make: Callable[[], Story]) -> None:
    """The prompt is stopped and the two talk; afterwards the verb begins anew."""
    story = make()
    request, verb = story.state_as(Prompting).request, story.state_as(Prompting).verb
    leg = dialled_into(story, state="ringback")
    commands = story.take(LegAnswered(leg), 500)
    room = story.state_as(Bridged).bridge
    assert commands == (StopPlayback(request), AddToBridge(room, (MAIN, leg)))
    commands = story.take(LegEnded(leg, NORMAL), 9_000)
    assert commands[:2] == (RemoveFromBridge(room, MAIN), DestroyBridge(room))
    assert isinstance(commands[-1], FetchMedia)
    assert story.state_as(Prompting).verb == verb


def test_before_the_prompt_is_there() -> None:
    """Nothing is stopped; the audio that comes meanwhile is not heard."""
    story = called(say())
    request = story.state_as(Playing).request
    leg = dialled_into(story)
    assert isinstance(story.take(LegAnswered(leg))[0], AddToBridge)
    assert story.take(MediaFetched(request, CLIPS)) == ()
    assert story.wanted(Play) == []


def test_while_digits_are_awaited() -> None:
    """Nothing is heard that could be stopped; the gather begins anew afterwards."""
    story = called({"type": "gather", "action": HTTPS})
    story.press("1")
    leg = dialled_into(story, state="ringback")
    assert isinstance(story.take(LegAnswered(leg))[0], AddToBridge)
    story.take(LegEnded(leg, NORMAL))
    assert story.state_as(Gathering).digits == ""


def test_an_agent_is_dialled_in() -> None:
    """It is told as one that was dialled."""
    story = playing()
    leg = dialled_into(story, DAN, state="answered")
    assert story.state_as(Bridged).verb.data.agent_id == "9"
    assert story.state_as(Bridged).leg == leg


def test_into_a_dial() -> None:
    """It is one more of those who ring: the first to answer is talked to."""
    story = dialing(BOB)
    leg = dialled_into(story)
    assert story.state_as(Dialing).legs == (PEER, leg)
    commands = story.take(LegAnswered(leg), 500)
    assert commands[0] == StopRinging(MAIN)
    assert commands[-1] == Hangup(PEER, NORMAL)
    assert story.state_as(Bridged).number == CAROL


def test_a_dial_keeps_its_time() -> None:
    """One that may ring only a while does not shorten it for the others."""
    story = dialing(BOB, timeout=60)
    leg = dialled_into(story)
    until = story.state_as(Dialing).deadline_ms
    story.take(LegCreated(leg), 100)
    assert story.state_as(Dialing).deadline_ms == until


def test_called_before_a_dial_began() -> None:
    """Its answer counts as one of the dial's."""
    story = playing({"type": "dial", "data": {"number": BOB}})
    leg = dialled_into(story, state="ringback")
    story.due()
    assert (story.state_as(Dialing).legs, story.call.invited) == ((f"{ID}.l3",), (leg,))
    story.take(LegAnswered(leg))
    assert (story.state_as(Bridged).leg, story.call.invited) == (leg, ())
    assert Hangup(f"{ID}.l3", NORMAL) in story.commands


def test_into_a_call_on_hold() -> None:
    """Who holds the main leg lets it come; till then the other waits."""
    story = called(say())
    story.take(hold(MAIN))
    leg = dialled_into(story, state="answered")
    assert (seat(story, MAIN).sound, together(story)) == ("music", {leg})
