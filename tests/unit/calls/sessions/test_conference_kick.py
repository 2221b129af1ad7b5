"""Members who are put out of a conference, or leave it; the others go on."""

from collections.abc import Callable

import pytest

from engine.calls.model.causes import BUSY, NORMAL
from engine.calls.model.commands import DestroyBridge, Hangup, RemoveFromBridge
from engine.calls.model.events import BridgeFailed, Event, LegAnswered, LegEnded
from engine.calls.model.requests import AddMemberRequested
from tests.unit.calls.harness.builders import MAIN, say
from tests.unit.calls.harness.control import (
    BRIDGE,
    CAROL,
    DAN,
    FOURTH,
    PEER,
    ROOM,
    THIRD,
    came,
    conference,
    conferring,
    inviting,
    kick,
    leave,
    members,
    members_told,
    together,
)


@pytest.mark.parametrize("leg", [PEER, THIRD])
@pytest.mark.parametrize(("ask", "reason"), [(kick, "kicked"), (leave, "left")])
def test_put_out(leg: str, ask: Callable[[str], Event], reason: str) -> None:
    """The others go on; the one is hung up, and its own end changes nothing more."""
    story = conferring(DAN)
    assert story.take(ask(leg)) == (Hangup(leg, NORMAL),)
    assert leg not in together(story)
    assert members_told(story, leg)[-1] == ("complete", reason)
    story.take(LegEnded(leg, NORMAL), 30)
    assert members_told(story, leg)[-1] == ("complete", reason)
    assert len(together(story)) == 3


def test_the_main_leg_is_put_out() -> None:
    """The next member is the main one; the call goes on without who began it."""
    story = conferring(action=say())
    assert story.take(kick(MAIN)) == (Hangup(MAIN, NORMAL),)
    assert story.call.main == PEER
    story.take(LegEnded(MAIN, NORMAL), 30)
    assert together(story) == {PEER, THIRD}
    assert story.told[-1].event == "leg-completed"


def test_who_still_rings_is_put_out() -> None:
    """It has not come, and will not."""
    story = came(conferring(), THIRD, "answered")
    story.take(AddMemberRequested(DAN, "7"))
    assert story.take(kick(FOURTH)) == (Hangup(FOURTH, NORMAL),)
    assert members(story)[FOURTH] == ("failed", "kicked")
    assert story.take(LegAnswered(FOURTH)) == (Hangup(FOURTH, NORMAL),)


def test_put_out_again() -> None:
    """A repeat is harmless, also on a conference that is over."""
    story = conferring(DAN)
    story.take(kick(THIRD))
    before = story.call
    assert story.take(kick(THIRD)) == ()
    assert story.call is before


def test_put_out_of_an_earlier_conference() -> None:
    """Who is in a later one stays there."""
    story = inviting()
    story.take(LegEnded(THIRD, BUSY))
    story.take(AddMemberRequested(CAROL, "7"))
    before = story.call
    assert story.take(kick(PEER, ROOM)) == ()
    assert story.call is before


def test_the_last_two() -> None:
    """One is put out: the other has nobody to talk to, its tree goes on."""
    story = conferring(action=say())
    story.take(kick(PEER))
    commands = story.take(kick(THIRD))
    assert commands[:2] == (RemoveFromBridge(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert Hangup(THIRD, NORMAL) in commands
    assert story.state == "playing"


def test_a_member_that_cannot_be_joined() -> None:
    """It is put out; the others do not notice."""
    story = conferring()
    assert story.take(BridgeFailed(BRIDGE, "no", (THIRD,))) == (Hangup(THIRD, NORMAL),)
    assert together(story) == {MAIN, PEER}
    story.take(AddMemberRequested(DAN, "7"))
    story.take(LegEnded(FOURTH, BUSY))
    assert together(story) == {MAIN, PEER}
    assert members(story)[THIRD] == ("complete", "unavailable")
    assert conference(story).state == "in-progress"


def test_a_main_leg_that_cannot_be_joined() -> None:
    """The others go on without it."""
    story = conferring()
    assert story.take(BridgeFailed(BRIDGE, "no", (MAIN,))) == (Hangup(MAIN, NORMAL),)
    assert together(story) == {PEER, THIRD}


def test_the_last_is_put_out_while_another_rings() -> None:
    """Nobody is left to wait for who rings: everything ends."""
    story = inviting(action=say())
    story.take(kick(PEER))
    commands = story.take(kick(MAIN))
    assert {c.leg for c in commands if isinstance(c, Hangup)} == {MAIN, PEER, THIRD}
    assert (story.state, conference(story).state) == ("ending", "completed")
