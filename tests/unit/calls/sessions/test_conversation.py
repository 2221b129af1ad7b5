"""The conversation: bridging, hold, and how it ends when parties leave."""

import json

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.call_states import Bridged
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
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import HTTPS, MAIN, bridged_call, say
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    PEER,
    bridged_legs,
    dial_into,
    hold,
    media_of,
    unhold,
)


@pytest.mark.parametrize("leg", [MAIN, PEER])
def test_a_hold(leg: str) -> None:
    """Either party leaves the bridge for music, and comes back."""
    story = bridged_call(BOB)
    assert story.take(hold(leg)) == (RemoveFromBridge(BRIDGE, leg), StartHoldMusic(leg))
    assert (story.emitted[-1].event, story.emitted[-1].channel_id) == ("leg-held", leg)
    assert story.take(unhold(leg)) == (StopHoldMusic(leg), AddToBridge(BRIDGE, (leg,)))
    assert story.emitted[-1].event == "leg-unheld"


def test_both_are_held() -> None:
    """Each hears music until it is taken off hold itself."""
    story = bridged_call(BOB)
    story.take(hold(MAIN))
    story.take(hold(PEER))
    assert bridged_legs(story) == set()
    story.take(unhold(MAIN))
    assert bridged_legs(story) == {MAIN}


def test_a_hold_keeps_a_mute() -> None:
    """The leg is still muted after the hold."""
    story = bridged_call(BOB)
    story.take(MuteRequested(PEER, "in"))
    story.take(hold(PEER))
    assert media_of(story, PEER) == LegMedia(sound="music", muted="in")
    assert story.take(unhold(PEER)) == (StopHoldMusic(PEER), AddToBridge(BRIDGE, (PEER,)))
    assert media_of(story, PEER) == LegMedia(BRIDGE, muted="in")


def test_a_held_main_leg_is_released_when_alone() -> None:
    """The holding party has left: the tree continues at once."""
    story = bridged_call(BOB, action=say())
    story.take(hold(MAIN))
    commands = story.take(LegEnded(PEER, NORMAL))
    assert commands[:2] == (StopHoldMusic(MAIN), DestroyBridge(BRIDGE))
    assert isinstance(commands[-1], FetchMedia)
    assert [each.event for each in story.emitted[-2:]] == ["leg-unheld", "leg-completed"]
    assert media_of(story, MAIN) == LegMedia()


def test_the_held_party_hangs_up() -> None:
    """A held party is part of the conversation: its hangup ends it."""
    story = bridged_call(BOB, action=say())
    story.take(hold(PEER))
    assert story.take(LegEnded(PEER, NORMAL))[:2] == (
        RemoveFromBridge(BRIDGE, MAIN),
        DestroyBridge(BRIDGE),
    )


def test_three_talk() -> None:
    """Two parties talk on; then the tree continues with the dialled leg's result."""
    story = bridged_call(BOB, action=HTTPS)
    third = dial_into(story, state="answered")
    assert story.state_as(Bridged).legs == (PEER, third)
    assert story.take(LegEnded(third, NORMAL), 1_000) == ()
    story.take(LegEnded(PEER, NORMAL), 1_000)
    dial = json.loads(story.commands_of(SendWebhook)[-1].body)["dial"]
    assert (dial["channelId"], dial["number"]) == (PEER, BOB)


def test_the_main_leg_of_three_hangs_up() -> None:
    """Outside a conference the end of the main leg ends the call."""
    story = bridged_call(BOB)
    third = dial_into(story, state="answered")
    commands = story.hang_up()
    assert [c.leg for c in commands if isinstance(c, Hangup)] == [PEER, third]


def test_the_time_limit_with_three() -> None:
    """Only the party of the dial is hung up; the others stay connected, without a limit."""
    story = bridged_call(data={"number": BOB, "timeLimit": 60}, action=say())
    third = dial_into(story, state="answered")
    hangups = [c for c in story.pass_deadline() if isinstance(c, Hangup)]
    assert hangups == [Hangup(PEER, NORMAL)]
    story.take(LegEnded(PEER, NORMAL))
    assert bridged_legs(story) == {MAIN, third}
    assert deadline_ms(story.call) == story.call.must_end_ms


def test_the_time_limit_of_a_party_that_left() -> None:
    """It affects no party, and passes once."""
    story = bridged_call(data={"number": BOB, "timeLimit": 60}, action=say())
    third = dial_into(story, state="answered")
    story.take(LegEnded(PEER, NORMAL))
    assert story.pass_deadline() == ()
    assert bridged_legs(story) == {MAIN, third}
    assert deadline_ms(story.call) == story.call.must_end_ms


def test_one_of_three_cannot_be_bridged() -> None:
    """It is hung up, the other two talk on."""
    story = bridged_call(BOB)
    third = dial_into(story, state="answered")
    assert story.take(BridgeFailed(BRIDGE, "no", (third,))) == (Hangup(third, NORMAL),)
    assert bridged_legs(story) == {MAIN, PEER}


def test_the_main_leg_cannot_be_bridged_again() -> None:
    """The other parties are hung up and the tree continues."""
    story = bridged_call(BOB, action=say())
    story.take(hold(MAIN))
    story.take(unhold(MAIN))
    assert Hangup(PEER, NORMAL) in story.take(BridgeFailed(BRIDGE, "no", (MAIN,)))
    assert story.state == "playing"
