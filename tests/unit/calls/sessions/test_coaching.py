"""Coaching: a member is heard by one other alone, through a snoop; never by others by accident."""

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, Mute, Snoop, Unmute
from engine.calls.model.events import LegCreated, LegEnded
from engine.calls.model.requests import MuteRequested
from tests.unit.calls.harness.builders import ID, MAIN
from tests.unit.calls.harness.control import (
    BOX,
    BRIDGE,
    PEER,
    SNOOP,
    THIRD,
    coach,
    coaching,
    conferring,
    hold,
    kick,
    seat,
    together,
    unhold,
)


def test_a_coach_begins() -> None:
    """From the request on nobody hears it, before the snoop is there."""
    story = conferring()
    assert story.take(coach(THIRD, PEER)) == (Mute(THIRD, "in"), Snoop(SNOOP, PEER))
    assert story.take(LegCreated(SNOOP), 5) == (
        Unmute(THIRD, "in"),
        AddToBridge(BOX, (THIRD, SNOOP)),
    )
    assert together(story) == {MAIN, PEER}


def test_a_coach_who_hears_nobody() -> None:
    """A mute of its own holds beside the silence of the moment, and after it."""
    story = conferring()
    story.take(MuteRequested(THIRD, "out"))
    assert story.take(coach(THIRD, PEER))[:2] == (Unmute(THIRD, "out"), Mute(THIRD, "both"))
    story.take(LegCreated(SNOOP), 5)
    assert seat(story, THIRD) == LegMedia(BOX, muted="out")


def test_the_same_again() -> None:
    """Coaching the same one is nothing new."""
    story = coaching()
    before = story.call
    assert story.take(coach(THIRD, PEER)) == ()
    assert story.call is before


def test_another_is_coached() -> None:
    """In between nobody hears the coach."""
    story = coaching()
    second = f"{ID}.s6"
    assert story.take(coach(THIRD, MAIN)) == (
        Mute(THIRD, "in"),
        AddToBridge(BRIDGE, (THIRD,)),
        DestroyBridge(BOX),
        Hangup(SNOOP, NORMAL),
        Snoop(second, MAIN),
    )
    assert story.take(LegEnded(SNOOP, NORMAL)) == ()
    story.take(LegCreated(second))
    assert seat(story, THIRD) == LegMedia(f"{second}b")


def test_coaching_is_over() -> None:
    """The coach asked to be heard by all again."""
    story = coaching()
    assert story.take(coach(THIRD, "")) == (
        AddToBridge(BRIDGE, (THIRD,)),
        DestroyBridge(BOX),
        Hangup(SNOOP, NORMAL),
    )
    assert seat(story, THIRD) == LegMedia(BRIDGE)
    assert story.take(LegEnded(SNOOP, NORMAL)) == ()


def test_a_deaf_coach_stays_deaf() -> None:
    """What it was silenced in before is kept."""
    story = coaching()
    story.take(MuteRequested(THIRD, "out"))
    story.take(LegEnded(SNOOP, NORMAL))
    assert seat(story, THIRD) == LegMedia(BRIDGE, muted="both")


def test_a_silenced_coach_is_heard_again() -> None:
    """Who wants it to be heard takes its mute off."""
    story = coaching()
    story.take(LegEnded(SNOOP, NORMAL))
    assert story.take(MuteRequested(THIRD, "")) == (Unmute(THIRD, "in"),)


@pytest.mark.parametrize("gone", ["held", "hung up"])
def test_a_coach_with_nobody_else_to_hear_it(gone: str) -> None:
    """A snoop is heard only beside others: without them the coach sits with whom it coaches."""
    story = coaching()
    assert seat(story, THIRD) == LegMedia(BOX)
    story.take(hold(MAIN) if gone == "held" else kick(MAIN))
    assert {PEER, THIRD} <= together(story)
    if gone == "held":
        assert AddToBridge(BOX, (THIRD,)) in story.take(unhold(MAIN))
