"""Coaching that ends by itself: somebody goes, or the snoop can't be."""

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NORMAL, TEMPORARY_FAILURE
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, Mute
from engine.calls.model.events import BridgeFailed, LegCreated, LegEnded
from engine.calls.model.requests import AddMemberRequested
from tests.unit.calls.harness.builders import ID, MAIN, talking
from tests.unit.calls.harness.control import (
    BOB,
    BOX,
    BRIDGE,
    DAN,
    FOURTH,
    PEER,
    SNOOP,
    THIRD,
    coach,
    coaching,
    conference,
    conferring,
    dialled_into,
    kick,
    leave,
    seat,
    together,
)


@pytest.mark.parametrize(
    "end", [kick(PEER), leave(PEER), LegEnded(PEER, NORMAL), LegEnded(SNOOP, NORMAL)]
)
def test_who_is_coached_goes(end: LegEnded) -> None:
    """Nobody hears the coach by accident: back in the bridge it is silent, and told so."""
    story = coaching()
    story.take(end)
    assert seat(story, THIRD).muted == "in"
    told = [each for each in story.told if each.event == "leg-muted"]
    assert [(each.channel_id, each.muted) for each in told] == [(THIRD, "in")]
    assert conference(story).members[2].snoop == ""
    if end != LegEnded(SNOOP, NORMAL):
        assert story.wanted(Hangup)[-1].leg in {SNOOP, PEER}
        assert SNOOP in {each.leg for each in story.wanted(Hangup)}


@pytest.mark.parametrize("end", [kick(THIRD), LegEnded(THIRD, NORMAL)])
def test_the_coach_goes(end: LegEnded) -> None:
    """Its snoop goes with it; the one it coached talks on."""
    story = coaching()
    commands = story.take(end)
    assert DestroyBridge(BOX) in commands
    assert Hangup(SNOOP, NORMAL) in commands
    assert together(story) == {MAIN, PEER}


def test_a_snoop_that_cannot_be_made() -> None:
    """The coach stays silent."""
    story = conferring()
    story.take(coach(THIRD, PEER))
    assert story.take(LegEnded(SNOOP, TEMPORARY_FAILURE)) == ()
    assert seat(story, THIRD) == LegMedia(BRIDGE, muted="in")


def test_a_snoop_that_comes_late() -> None:
    """Nobody wants it any more."""
    story = conferring()
    story.take(coach(THIRD, PEER))
    story.take(coach(THIRD, ""))
    assert story.take(LegCreated(SNOOP)) == (Hangup(SNOOP, NORMAL),)


def test_a_snoop_told_twice() -> None:
    """It is not hung up for that."""
    assert coaching().take(LegCreated(SNOOP)) == ()


def test_coach_and_snoop_that_cannot_be_joined() -> None:
    """The coaching is over; the coach is with the others, silent."""
    story = coaching()
    assert story.take(BridgeFailed(BOX, "no", (THIRD, SNOOP))) == (
        Mute(THIRD, "in"),
        AddToBridge(BRIDGE, (THIRD,)),
        DestroyBridge(BOX),
        Hangup(SNOOP, NORMAL),
    )


def test_two_coaches() -> None:
    """Each has a snoop of its own; when the one they coach goes, neither is heard."""
    story = conferring(DAN)
    first, second = f"{ID}.s6", f"{ID}.s7"
    story.take(coach(THIRD, PEER))
    story.take(LegCreated(first))
    story.take(coach(FOURTH, PEER))
    story.take(LegCreated(second))
    story.take(LegEnded(PEER, NORMAL))
    assert {each.leg for each in story.wanted(Hangup)} == {first, second}
    for leg in (THIRD, FOURTH):
        assert seat(story, leg) == LegMedia(BRIDGE, muted="in")


def test_only_coach_and_coached_are_left() -> None:
    """The conference goes on between the two; with the coached one's end it is over."""
    story = coaching()
    story.hang_up()
    assert story.call.main == PEER
    story.hang_up()
    assert story.state == "ending"
    assert {THIRD, SNOOP} <= {each.leg for each in story.wanted(Hangup)}


def test_a_coach_outlives_its_conference() -> None:
    """With the conference over nobody hears by accident who coached: it stays muted."""
    story = talking(BOB)
    third = dialled_into(story, state="answered")
    story.take(AddMemberRequested(DAN, "7"))
    fourth = story.call.legs[-1].id
    story.take(coach(third, PEER, story.call.conferences[-1].id))
    story.take(LegEnded(fourth, BUSY), 100)
    assert story.call.conference is None
    assert seat(story, third).muted == "in"
