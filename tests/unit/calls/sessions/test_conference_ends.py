"""How a conference ends: too few are left, or the call is over."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from engine.calls.model.causes import BUSY, LOST, NORMAL, EndedBy
from engine.calls.model.commands import Hangup, RemoveFromBridge, StartHoldMusic, StopHoldMusic
from engine.calls.model.events import LegCreated, LegEnded
from engine.calls.model.requests import AddMemberRequested, HangupRequested
from engine.calls.model.state import Bridged
from tests.unit.calls.harness.builders import HTTPS, MAIN, say, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    CAROL,
    PEER,
    THIRD,
    came,
    conference,
    conferences_told,
    conferring,
    inviting,
    leave,
    members,
    together,
)


def test_it_lives_while_two_remain() -> None:
    """Once it has begun, two are enough."""
    story = conferring()
    story.take(LegEnded(PEER, NORMAL))
    assert (conference(story).state, together(story)) == ("in-progress", {MAIN, THIRD})


def test_the_last_but_one_leaves() -> None:
    """The conference ends; the tree goes on with the main leg."""
    story = conferring(action=say())
    story.take(LegEnded(PEER, NORMAL))
    assert story.take(leave(THIRD))[0] == RemoveFromBridge(BRIDGE, MAIN)
    assert conferences_told(story)[-1] == ("completed", "too_few_members")
    assert members(story) == {
        MAIN: ("complete", "conference_ended"),
        PEER: ("complete", "hangup"),
        THIRD: ("complete", "left"),
    }
    assert story.state == "playing"


def test_one_waits_for_another() -> None:
    """Alone while somebody is called, it hears music; then they talk."""
    story = inviting()
    assert story.take(LegEnded(PEER, NORMAL)) == (
        RemoveFromBridge(BRIDGE, MAIN),
        StartHoldMusic(MAIN),
    )
    assert conference(story).state == "init"
    commands = came(story, THIRD, "answered").commands
    assert StopHoldMusic(MAIN) in commands
    assert together(story) == {MAIN, THIRD}
    assert conference(story).state == "in-progress"


def test_one_waits_in_vain() -> None:
    """Nobody comes: the conference is over and the tree goes on."""
    story = inviting(action=say())
    story.take(LegEnded(PEER, NORMAL))
    assert story.take(LegEnded(THIRD, BUSY))[0] == StopHoldMusic(MAIN)
    assert (story.state, conference(story).state) == ("playing", "completed")


def test_the_main_leg_leaves() -> None:
    """The next member becomes the main one; the tree was the other's, and ends."""
    story = conferring(action=say())
    story.hang_up()
    assert (story.call.main, together(story)) == (PEER, {PEER, THIRD})
    assert members(story)[MAIN] == ("complete", "hangup")
    story.take(LegEnded(THIRD, NORMAL), 3_000)
    assert story.state == "ending"
    assert story.wanted(Hangup)[-1].leg == PEER


def test_the_main_leg_leaves_one_who_waits() -> None:
    """Its successor hears music until the other answers."""
    story = inviting()
    assert story.hang_up() == (RemoveFromBridge(BRIDGE, PEER), StartHoldMusic(PEER))
    assert story.call.main == PEER
    came(story, THIRD, "answered")
    assert together(story) == {PEER, THIRD}


def test_the_main_leg_was_the_last() -> None:
    """Nobody is left to wait for who rings: everything ends."""
    story = inviting()
    story.take(LegEnded(PEER, NORMAL))
    assert Hangup(THIRD, NORMAL) in story.hang_up()
    assert story.state == "ending"


def test_the_tree_does_not_outlive_its_leg() -> None:
    """What was to come after a flow ends with the main leg, too."""
    story = conferring(action=say())
    story.call = replace(story.call, continuation=(HTTPS,))
    story.hang_up()
    assert story.call.continuation == ()
    assert story.state_as(Bridged).verb.action is None


@pytest.mark.parametrize("by", ["api", "caller"])
def test_the_call_is_hung_up(by: EndedBy) -> None:
    """The conference is told its end, each member is hung up once."""
    story = conferring()
    commands = story.take(HangupRequested(by))
    assert [c.leg for c in commands if isinstance(c, Hangup)] == [MAIN, PEER, THIRD]
    assert conferences_told(story)[-1] == ("completed", "call_ended")


def test_the_time_for_talking_is_over() -> None:
    """All but the main leg are put out, those who ring too; the tree goes on."""
    story = talking(data={"number": BOB, "timeLimit": 30}, action=say())
    story.take(AddMemberRequested(CAROL, "7", ring_s=60))
    story.take(LegCreated(THIRD))
    commands = story.due()
    assert sorted(c.leg for c in commands if isinstance(c, Hangup)) == [PEER, THIRD]
    assert members(story)[THIRD] == ("failed", "conference_ended")
    assert story.state == "playing"


@pytest.mark.parametrize("order", list(permutations((MAIN, PEER, THIRD))))
@pytest.mark.parametrize("action", [None, say()])
def test_its_node_dies(order: tuple[str, ...], action: object) -> None:
    """In whatever order the members are lost, and whatever was to come, the call was lost."""
    story = conferring(action=action)
    for leg in order:
        story.take(LegEnded(leg, LOST))
    assert story.state == "ended"
    assert (story.told[-1].event, story.told[-1].reason) == ("completed", "lost")
    assert conferences_told(story)[-1][0] == "completed"
