"""Coaching: only one other member hears the coach, through a snoop."""

import pytest

from engine.calls.media.plan import LegMedia, coach_bridge
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, Mute, Snoop, Unmute
from engine.calls.model.events import LegCreated, LegEnded
from engine.calls.model.requests import MuteRequested
from tests.harness.calls.builders import ID, MAIN
from tests.harness.calls.control import (
    COACH_BRIDGE,
    MIX_BRIDGE,
    PEER,
    SNOOP,
    THIRD,
    bridged_legs,
    coach,
    coaching,
    hold,
    in_conference,
    kick,
    media_of,
    unhold,
)


def test_start_of_coaching() -> None:
    """From the request on, before the snoop exists, no member hears the coach."""
    story = in_conference()
    assert story.take(coach(THIRD, PEER)) == (Mute(THIRD, "in"), Snoop(SNOOP, PEER))
    assert story.take(LegCreated(SNOOP), 5) == (
        Unmute(THIRD, "in"),
        AddToBridge(COACH_BRIDGE, (THIRD, SNOOP)),
    )
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_coach_with_an_outbound_mute() -> None:
    """Its own mute is combined with the temporary mute, and remains afterwards."""
    story = in_conference()
    story.take(MuteRequested(THIRD, "out"))
    assert story.take(coach(THIRD, PEER))[:2] == (Unmute(THIRD, "out"), Mute(THIRD, "both"))
    story.take(LegCreated(SNOOP), 5)
    assert media_of(story, THIRD) == LegMedia(COACH_BRIDGE, muted="out")


def test_the_same_again() -> None:
    """A repeated request changes nothing, nor does a repeated event of the snoop."""
    story = coaching()
    before = story.call
    assert story.take(coach(THIRD, PEER)) == ()
    assert story.call is before
    assert story.take(LegCreated(SNOOP)) == ()


def test_another_member_is_coached() -> None:
    """Between the two snoops no member hears the coach."""
    story = coaching()
    second = f"{ID}.s6"
    assert story.take(coach(THIRD, MAIN)) == (
        Mute(THIRD, "in"),
        AddToBridge(MIX_BRIDGE, (THIRD,)),
        DestroyBridge(COACH_BRIDGE),
        Hangup(SNOOP, NORMAL),
    )
    assert story.take(LegEnded(SNOOP, NORMAL)) == ()
    assert story.pass_deadline() == (Snoop(second, MAIN),)
    story.take(LegCreated(second))
    assert media_of(story, THIRD) == LegMedia(f"{second}b")


def test_end_of_coaching() -> None:
    """After the request all members hear the coach again."""
    story = coaching()
    assert story.take(coach(THIRD, "")) == (
        AddToBridge(MIX_BRIDGE, (THIRD,)),
        DestroyBridge(COACH_BRIDGE),
        Hangup(SNOOP, NORMAL),
    )
    assert media_of(story, THIRD) == LegMedia(MIX_BRIDGE)
    assert story.take(LegEnded(SNOOP, NORMAL)) == ()


def test_an_outbound_mute_of_a_coach_is_kept() -> None:
    """A mute from before the coaching's end is kept."""
    story = coaching()
    story.take(MuteRequested(THIRD, "out"))
    story.take(LegEnded(SNOOP, NORMAL))
    assert media_of(story, THIRD) == LegMedia(MIX_BRIDGE, muted="both")


def test_a_muted_coach_is_unmuted() -> None:
    """An unmute request ends the mute that the end of coaching set."""
    story = coaching()
    story.take(LegEnded(SNOOP, NORMAL))
    assert story.take(MuteRequested(THIRD, "")) == (Unmute(THIRD, "in"),)


@pytest.mark.parametrize("change", ["held", "hung up"])
def test_a_coach_alone_with_the_coached_leg(change: str) -> None:
    """A snoop mixes audio only beside other legs: without them the coach joins the main bridge.

    It needs no snoop there, and gets a new one when another leg returns.
    """
    story = coaching()
    assert media_of(story, THIRD) == LegMedia(COACH_BRIDGE)
    commands = story.take(hold(MAIN) if change == "held" else kick(MAIN))
    assert Hangup(SNOOP, NORMAL) in commands
    assert {PEER, THIRD} <= bridged_legs(story)
    if change == "held":
        story.take(LegEnded(SNOOP, NORMAL))
        story.pass_deadline()
        commands = story.take(unhold(MAIN))
        renewed = f"{ID}.s6"
        assert commands[-1] == Snoop(renewed, PEER)
        assert Mute(THIRD, "in") in commands
        assert story.take(LegCreated(renewed)) == (
            Unmute(THIRD, "in"),
            AddToBridge(coach_bridge(renewed), (THIRD, renewed)),
        )
