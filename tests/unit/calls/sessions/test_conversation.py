"""The conversation: who is heard in it, who is on hold, how it ends when parties come and go."""

import json

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Hangup,
    RemoveFromBridge,
    StartHoldMusic,
    StopHoldMusic,
)
from engine.calls.model.events import BridgeFailed, LegEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.requests import MuteRequested
from engine.calls.model.state import Bridged
from tests.unit.calls.harness.builders import HTTPS, MAIN, say, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    PEER,
    dialled_into,
    hold,
    seat,
    together,
    unhold,
)


@pytest.mark.parametrize("leg", [MAIN, PEER])
def test_a_hold(leg: str) -> None:
    """Either party leaves the bridge for music, and comes back."""
    story = talking(BOB)
    assert story.take(hold(leg)) == (RemoveFromBridge(BRIDGE, leg), StartHoldMusic(leg))
    assert (story.told[-1].event, story.told[-1].channel_id) == ("leg-held", leg)
    assert story.take(unhold(leg)) == (StopHoldMusic(leg), AddToBridge(BRIDGE, (leg,)))
    assert story.told[-1].event == "leg-unheld"


def test_both_are_held() -> None:
    """Each hears music until it is taken off by itself."""
    story = talking(BOB)
    story.take(hold(MAIN))
    story.take(hold(PEER))
    assert together(story) == set()
    story.take(unhold(MAIN))
    assert together(story) == {MAIN}


def test_a_hold_keeps_a_mute() -> None:
    """Back from it, the leg is still silent."""
    story = talking(BOB)
    story.take(MuteRequested(PEER, "in"))
    story.take(hold(PEER))
    assert seat(story, PEER) == LegMedia(sound="music", muted="in")
    assert story.take(unhold(PEER)) == (StopHoldMusic(PEER), AddToBridge(BRIDGE, (PEER,)))
    assert seat(story, PEER) == LegMedia(BRIDGE, muted="in")


def test_a_held_main_leg_is_free_when_it_is_alone() -> None:
    """Who held it is gone: the tree goes on with it at once."""
    story = talking(BOB, action=say())
    story.take(hold(MAIN))
    commands = story.take(LegEnded(PEER, NORMAL))
    assert commands[:2] == (StopHoldMusic(MAIN), DestroyBridge(BRIDGE))
    assert isinstance(commands[-1], FetchMedia)
    assert [each.event for each in story.told[-2:]] == ["leg-unheld", "leg-completed"]
    assert seat(story, MAIN) == LegMedia()


def test_the_held_party_hangs_up() -> None:
    """It was part of the conversation all the time."""
    story = talking(BOB, action=say())
    story.take(hold(PEER))
    assert story.take(LegEnded(PEER, NORMAL))[:2] == (
        RemoveFromBridge(BRIDGE, MAIN),
        DestroyBridge(BRIDGE),
    )


def test_three_talk() -> None:
    """While two are left, they talk on; then the tree goes on, told of the one it dialled."""
    story = talking(BOB, action=HTTPS)
    third = dialled_into(story, state="answered")
    assert story.state_as(Bridged).legs == (PEER, third)
    assert story.take(LegEnded(third, NORMAL), 1_000) == ()
    story.take(LegEnded(PEER, NORMAL), 1_000)
    dial = json.loads(story.wanted(SendWebhook)[-1].body)["dial"]
    assert (dial["channelId"], dial["number"]) == (PEER, BOB)


def test_the_main_leg_of_three_hangs_up() -> None:
    """Outside a conference its end is the call's."""
    story = talking(BOB)
    third = dialled_into(story, state="answered")
    commands = story.hang_up()
    assert [c.leg for c in commands if isinstance(c, Hangup)] == [PEER, third]


def test_the_time_is_up_for_three() -> None:
    """Both others are put out, once each."""
    story = talking(data={"number": BOB, "timeLimit": 60}, action=say())
    third = dialled_into(story, state="answered")
    hangups = [c for c in story.due() if isinstance(c, Hangup)]
    assert hangups == [Hangup(PEER, NORMAL), Hangup(third, NORMAL)]
    assert story.state == "playing"


def test_one_of_three_cannot_be_joined() -> None:
    """It is put out, the two talk on."""
    story = talking(BOB)
    third = dialled_into(story, state="answered")
    assert story.take(BridgeFailed(BRIDGE, "no", (third,))) == (Hangup(third, NORMAL),)
    assert together(story) == {MAIN, PEER}


def test_the_main_leg_cannot_be_joined_again() -> None:
    """Nobody can talk to it: the others are let go and the tree goes on."""
    story = talking(BOB, action=say())
    story.take(hold(MAIN))
    story.take(unhold(MAIN))
    assert Hangup(PEER, NORMAL) in story.take(BridgeFailed(BRIDGE, "no", (MAIN,)))
    assert story.state == "playing"
