"""Members who are kicked from a conference or leave it; the others go on."""

from collections.abc import Callable

import pytest

from engine.calls.model.causes import BUSY, NORMAL
from engine.calls.model.commands import DestroyBridge, Hangup, RemoveFromBridge
from engine.calls.model.events import BridgeFailed, Event, LegAnswered, LegEnded
from engine.calls.model.requests import AddMemberRequested
from tests.harness.calls.builders import MAIN, say
from tests.harness.calls.control import (
    CAROL,
    CONFERENCE,
    DAN,
    FOURTH,
    MIX_BRIDGE,
    PEER,
    THIRD,
    bridged_legs,
    conference,
    in_conference,
    inviting,
    kick,
    leave,
    member_events,
    members,
    progress,
)


@pytest.mark.parametrize("leg", [PEER, THIRD])
@pytest.mark.parametrize(("ask", "reason"), [(kick, "kicked"), (leave, "left")])
def test_kick_and_leave(leg: str, ask: Callable[[str], Event], reason: str) -> None:
    """The leg is hung up; its later end changes nothing more."""
    story = in_conference(DAN)
    assert story.take(ask(leg)) == (Hangup(leg, NORMAL),)
    assert leg not in bridged_legs(story)
    assert member_events(story, leg)[-1] == ("complete", reason)
    story.take(LegEnded(leg, NORMAL), 30)
    assert member_events(story, leg)[-1] == ("complete", reason)
    assert len(bridged_legs(story)) == 3


def test_the_main_leg_is_kicked() -> None:
    """Another member's leg becomes the main leg; the call goes on."""
    story = in_conference(action=say())
    assert story.take(kick(MAIN)) == (Hangup(MAIN, NORMAL),)
    assert story.call.main == PEER
    story.take(LegEnded(MAIN, NORMAL), 30)
    assert bridged_legs(story) == {PEER, THIRD}
    assert story.emitted[-1].event == "leg-completed"


def test_a_ringing_member_is_kicked() -> None:
    """The member has failed."""
    story = progress(in_conference(), THIRD, "answered")
    story.take(AddMemberRequested(DAN, "7"))
    assert story.take(kick(FOURTH)) == (Hangup(FOURTH, NORMAL),)
    assert members(story)[FOURTH] == ("failed", "kicked")
    assert story.take(LegAnswered(FOURTH)) == (Hangup(FOURTH, NORMAL),)


def test_a_repeated_kick() -> None:
    """A repeat is harmless, also after the end of the conference."""
    story = in_conference(DAN)
    story.take(kick(THIRD))
    before = story.call
    assert story.take(kick(THIRD)) == ()
    assert story.call is before


def test_a_kick_from_an_earlier_conference() -> None:
    """A member of a later conference stays there."""
    story = inviting()
    story.take(LegEnded(THIRD, BUSY))
    story.take(AddMemberRequested(CAROL, "7"))
    before = story.call
    assert story.take(kick(PEER, CONFERENCE)) == ()
    assert story.call is before


def test_a_kick_from_two_members() -> None:
    """The conversation ends, and the tree of the other continues."""
    story = in_conference(action=say())
    story.take(kick(PEER))
    commands = story.take(kick(THIRD))
    assert commands[:2] == (RemoveFromBridge(MIX_BRIDGE, MAIN), DestroyBridge(MIX_BRIDGE))
    assert Hangup(THIRD, NORMAL) in commands
    assert story.state == "playing"


def test_a_member_that_cannot_be_bridged() -> None:
    """It is removed; the others are not affected."""
    story = in_conference()
    assert story.take(BridgeFailed(MIX_BRIDGE, "no", (THIRD,))) == (Hangup(THIRD, NORMAL),)
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(AddMemberRequested(DAN, "7"))
    story.take(LegEnded(FOURTH, BUSY))
    assert bridged_legs(story) == {MAIN, PEER}
    assert members(story)[THIRD] == ("complete", "unavailable")
    assert conference(story).state == "in-progress"


def test_a_main_leg_that_cannot_be_bridged() -> None:
    """The others go on without it."""
    story = in_conference()
    assert story.take(BridgeFailed(MIX_BRIDGE, "no", (MAIN,))) == (Hangup(MAIN, NORMAL),)
    assert bridged_legs(story) == {PEER, THIRD}


def test_the_last_connected_member_is_kicked() -> None:
    """No connected member waits for the ringing one: the call ends."""
    story = inviting(action=say())
    story.take(kick(PEER))
    commands = story.take(kick(MAIN))
    assert {c.leg for c in commands if isinstance(c, Hangup)} == {MAIN, PEER, THIRD}
    assert (story.state, conference(story).state) == ("ending", "completed")
