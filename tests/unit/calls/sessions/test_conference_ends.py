"""How a conference ends: too few members are left, or the call ends."""

from itertools import permutations

import pytest
from msgspec.structs import replace

from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import BUSY, LOST, NORMAL, EndedBy
from engine.calls.model.commands import Hangup, RemoveFromBridge, StartHoldMusic, StopHoldMusic
from engine.calls.model.events import BridgeFailed, LegAnswered, LegCreated, LegEnded
from engine.calls.model.requests import AddMemberRequested, HangupRequested
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import HTTPS, MAIN, bridged_call, say
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    CAROL,
    MIX_BRIDGE,
    PEER,
    THIRD,
    bridged_legs,
    conference,
    conference_events,
    in_conference,
    inviting,
    leave,
    members,
    progress,
)


def test_the_last_but_one_leaves() -> None:
    """It lasts while two remain; then the tree continues on the main leg."""
    story = in_conference(action=say())
    story.take(LegEnded(PEER, NORMAL))
    assert (conference(story).state, bridged_legs(story)) == ("in-progress", {MAIN, THIRD})
    assert story.take(leave(THIRD))[0] == RemoveFromBridge(MIX_BRIDGE, MAIN)
    assert conference_events(story)[-1] == ("completed", "too_few_members")
    assert members(story) == {
        MAIN: ("complete", "conference_ended"),
        PEER: ("complete", "hangup"),
        THIRD: ("complete", "left"),
    }
    assert story.state == "playing"


def test_the_last_but_one_cannot_be_bridged() -> None:
    """The platform has ended the conversation, and neither a party nor the tree the call."""
    story = in_conference()
    story.take(LegEnded(PEER, NORMAL))
    story.take(BridgeFailed(MIX_BRIDGE, "no", (THIRD,)))
    assert (story.state, story.call.ended_by) == ("ending", "system")


def test_one_waits_for_another() -> None:
    """A lone member hears music while another is called; then they talk."""
    story = inviting()
    assert story.take(LegEnded(PEER, NORMAL)) == (
        RemoveFromBridge(BRIDGE, MAIN),
        StartHoldMusic(MAIN),
    )
    assert conference(story).state == "init"
    commands = progress(story, THIRD, "answered").commands
    assert StopHoldMusic(MAIN) in commands
    assert bridged_legs(story) == {MAIN, THIRD}
    assert conference(story).state == "in-progress"


def test_the_awaited_member_fails() -> None:
    """The conference ends and the tree continues."""
    story = inviting(action=say())
    story.take(LegEnded(PEER, NORMAL))
    assert story.take(LegEnded(THIRD, BUSY))[0] == StopHoldMusic(MAIN)
    assert (story.state, conference(story).state) == ("playing", "completed")


def test_the_main_leg_leaves() -> None:
    """Another member's leg becomes the main leg; the tree ends."""
    story = in_conference(action=say())
    story.hang_up()
    assert (story.call.main, bridged_legs(story)) == (PEER, {PEER, THIRD})
    assert members(story)[MAIN] == ("complete", "hangup")
    story.take(LegEnded(THIRD, NORMAL), 3_000)
    assert story.state == "ending"
    assert story.commands_of(Hangup)[-1].leg == PEER


def test_the_main_leg_leaves_a_waiting_member() -> None:
    """The new main leg hears music until the other answers."""
    story = inviting()
    assert story.hang_up() == (RemoveFromBridge(BRIDGE, PEER), StartHoldMusic(PEER))
    assert story.call.main == PEER
    progress(story, THIRD, "answered")
    assert bridged_legs(story) == {PEER, THIRD}


def test_the_main_leg_is_the_last_connected() -> None:
    """No connected member waits for the ringing one: the call ends."""
    story = inviting()
    story.take(LegEnded(PEER, NORMAL))
    assert Hangup(THIRD, NORMAL) in story.hang_up()
    assert story.state == "ending"


def test_the_tree_does_not_outlive_its_leg() -> None:
    """The continuation of a flow ends with the main leg, too."""
    story = in_conference(action=say())
    story.call = replace(story.call, continuation=(HTTPS,))
    story.hang_up()
    assert story.call.continuation == ()
    assert story.state_as(Bridged).verb.action is None


@pytest.mark.parametrize("by", ["api", "caller"])
def test_the_call_is_hung_up(by: EndedBy) -> None:
    """The conference ends, and each member is hung up once."""
    story = in_conference()
    commands = story.take(HangupRequested(by))
    assert [c.leg for c in commands if isinstance(c, Hangup)] == [MAIN, PEER, THIRD]
    assert conference_events(story)[-1] == ("completed", "call_ended")


def test_the_dial_time_limit() -> None:
    """It does not end a conference, which may last as long as any call."""
    story = bridged_call(data={"number": BOB, "timeLimit": 30}, action=say())
    story.take(AddMemberRequested(CAROL, "7", ring_s=60))
    story.take(LegCreated(THIRD))
    story.take(LegAnswered(THIRD))
    assert deadline_ms(story.call) == story.call.must_end_ms


@pytest.mark.parametrize("order", list(permutations((MAIN, PEER, THIRD))))
@pytest.mark.parametrize("action", [None, say()])
def test_its_node_dies(order: tuple[str, ...], action: object) -> None:
    """The call is lost, in whatever order its members are lost and whatever follows."""
    story = in_conference(action=action)
    for leg in order:
        story.take(LegEnded(leg, LOST))
    assert story.state == "ended"
    assert (story.emitted[-1].event, story.emitted[-1].reason) == ("completed", "lost")
    assert conference_events(story)[-1][0] == "completed"
