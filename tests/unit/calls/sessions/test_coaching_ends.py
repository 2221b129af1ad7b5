"""Coaching that ends by itself: a leg ends, or the snoop fails."""

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NORMAL, TEMPORARY_FAILURE
from engine.calls.model.commands import AddToBridge, DestroyBridge, Hangup, Mute
from engine.calls.model.events import BridgeFailed, LegCreated, LegEnded
from engine.calls.model.requests import AddMemberRequested, HangupRequested
from tests.harness.calls.builders import ID, MAIN, bridged_call
from tests.harness.calls.control import (
    BOB,
    COACH_BRIDGE,
    DAN,
    FOURTH,
    MIX_BRIDGE,
    PEER,
    SNOOP,
    THIRD,
    bridged_legs,
    coach,
    coaching,
    conference,
    dial_into,
    hold,
    in_conference,
    kick,
    leave,
    media_of,
    unhold,
)


@pytest.mark.parametrize(
    "end", [kick(PEER), leave(PEER), LegEnded(PEER, NORMAL), LegEnded(SNOOP, NORMAL)]
)
def test_the_coached_leg_leaves(end: LegEnded) -> None:
    """The coach returns to the bridge muted, so the others do not hear it by accident."""
    story = coaching()
    story.take(end)
    assert media_of(story, THIRD).muted == "in"
    muted = [each for each in story.emitted if each.event == "leg-muted"]
    assert [(each.channel_id, each.muted) for each in muted] == [(THIRD, "in")]
    assert conference(story).members[2].snoop == ""
    if end != LegEnded(SNOOP, NORMAL):
        assert story.commands_of(Hangup)[-1].leg in {SNOOP, PEER}
        assert SNOOP in {each.leg for each in story.commands_of(Hangup)}


@pytest.mark.parametrize("is_alone", [True, False])
def test_the_coached_leg_leaves_without_a_snoop(is_alone: bool) -> None:
    """There is none while both are alone, and none yet in the pause of taps: no leg has no id."""
    story = coaching()
    story.take(hold(MAIN))
    if not is_alone:
        story.take(unhold(MAIN))
    assert conference(story).members[2].snoop == ""
    story.take(LegEnded(PEER, NORMAL))
    assert all(each.leg for each in story.commands_of(Hangup))


def test_nobody_coaches_after_the_conference() -> None:
    """The record does not say that a member still coaches."""
    story = coaching()
    assert conference(story).members[2].coaches == PEER
    story.take(HangupRequested("api"))
    assert [each.coaches for each in conference(story).members] == ["", "", ""]


@pytest.mark.parametrize("end", [kick(THIRD), LegEnded(THIRD, NORMAL)])
def test_the_coach_leaves(end: LegEnded) -> None:
    """Its snoop is hung up; the coached member talks on."""
    story = coaching()
    commands = story.take(end)
    assert DestroyBridge(COACH_BRIDGE) in commands
    assert Hangup(SNOOP, NORMAL) in commands
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_snoop_that_fails() -> None:
    """The coach stays muted."""
    story = in_conference()
    story.take(coach(THIRD, PEER))
    assert story.take(LegEnded(SNOOP, TEMPORARY_FAILURE)) == ()
    assert media_of(story, THIRD) == LegMedia(MIX_BRIDGE, muted="in")


def test_a_late_snoop() -> None:
    """A snoop that is no longer needed is hung up."""
    story = in_conference()
    story.take(coach(THIRD, PEER))
    story.take(coach(THIRD, ""))
    assert story.take(LegCreated(SNOOP)) == (Hangup(SNOOP, NORMAL),)


def test_coach_and_snoop_that_cannot_be_bridged() -> None:
    """The coaching ends; the coach rejoins the others, muted."""
    story = coaching()
    assert story.take(BridgeFailed(COACH_BRIDGE, "no", (THIRD, SNOOP))) == (
        Mute(THIRD, "in"),
        AddToBridge(MIX_BRIDGE, (THIRD,)),
        DestroyBridge(COACH_BRIDGE),
        Hangup(SNOOP, NORMAL),
    )


def test_two_coaches() -> None:
    """Each has its own snoop; when the coached leg leaves, neither is heard."""
    story = in_conference(DAN)
    first, second = f"{ID}.s6", f"{ID}.s7"
    story.take(coach(THIRD, PEER))
    story.take(LegCreated(first))
    story.take(coach(FOURTH, PEER))
    story.take(LegCreated(second))
    story.take(LegEnded(PEER, NORMAL))
    assert {each.leg for each in story.commands_of(Hangup)} == {first, second}
    for leg in (THIRD, FOURTH):
        assert media_of(story, leg) == LegMedia(MIX_BRIDGE, muted="in")


def test_only_coach_and_coached_are_left() -> None:
    """The conference goes on between the two, and ends with the coached leg."""
    story = coaching()
    story.hang_up()
    assert story.call.main == PEER
    story.hang_up()
    assert story.state == "ending"
    assert {THIRD, SNOOP} <= {each.leg for each in story.commands_of(Hangup)}


def test_a_coach_outlives_its_conference() -> None:
    """After the conference the former coach stays muted, so it is not heard by accident."""
    story = bridged_call(BOB)
    third = dial_into(story, state="answered")
    story.take(AddMemberRequested(DAN, "7"))
    fourth = story.call.legs[-1].id
    story.take(coach(third, PEER, story.call.conferences[-1].id))
    story.take(LegEnded(fourth, BUSY), 100)
    assert story.call.conference is None
    assert media_of(story, third).muted == "in"
