"""Conference: a conversation of several, made from one of two (design section 7)."""

from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import BUSY
from engine.calls.model.commands import (
    AddToBridge,
    Originate,
    RemoveFromBridge,
    StartHoldMusic,
    StopHoldMusic,
)
from engine.calls.model.events import LegAnswered, LegEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.requests import AddMemberRequested
from engine.calls.sessions.conference_members import MAX_LEFT_MEMBERS
from tests.unit.calls.harness.builders import HTTPS, MAIN, bridged_call
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    CAROL,
    CONFERENCE,
    DAN,
    FOURTH,
    PEER,
    THIRD,
    bridged_legs,
    conference,
    conference_events,
    dial_into,
    hold,
    in_conference,
    inviting,
    members,
    progress,
    unhold,
)


def test_it_is_created_without_media_changes() -> None:
    """The first invitation turns the current conversation into a conference."""
    story = bridged_call(BOB)
    request = AddMemberRequested(CAROL, "7", agent_id="8", name="Carol")
    assert story.take(request, 1_000) == (Originate(THIRD, CAROL, "+4799"),)
    assert (conference(story).id, conference(story).state) == (CONFERENCE, "init")
    assert members(story) == {
        MAIN: ("connected", ""),
        PEER: ("connected", ""),
        THIRD: ("queued", ""),
    }
    assert conference(story).requested_by == "7"
    assert (conference(story).members[2].agent_id, conference(story).members[2].name) == (
        "8",
        "Carol",
    )
    assert bridged_legs(story) == {MAIN, PEER}


def test_the_first_answer_starts_it() -> None:
    """The answered member joins the others in their bridge."""
    story = progress(inviting(), THIRD, "ringback")
    assert story.take(LegAnswered(THIRD), 2_000) == (AddToBridge(BRIDGE, (THIRD,)),)
    assert conference_events(story) == [("init", None), ("in-progress", None)]
    assert story.state_as(Bridged).legs == (PEER, THIRD)


def test_several_members() -> None:
    """All members who answer share the bridge."""
    story = in_conference(DAN)
    assert bridged_legs(story) == {MAIN, PEER, THIRD, FOURTH}
    assert len(story.call.conferences) == 1


def test_a_party_invited_before_its_creation() -> None:
    """A party that was dialled into the conversation is a member too."""
    story = bridged_call(BOB)
    from_dial = dial_into(story, "+4755555555")
    story.take(AddMemberRequested(CAROL, "7"))
    assert members(story)[from_dial] == ("queued", "")
    progress(story, from_dial, "answered")
    assert members(story)[from_dial] == ("connected", "")
    assert conference_events(story)[-1] == ("in-progress", None)


def test_the_invited_member_does_not_answer() -> None:
    """The other two talk on, and the conference ends."""
    story = inviting()
    assert story.take(LegEnded(THIRD, BUSY)) == ()
    assert members(story)[THIRD] == ("failed", "busy")
    assert conference_events(story)[-1] == ("completed", "too_few_members")
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_member_on_hold() -> None:
    """The others talk on without it."""
    story = in_conference()
    assert story.take(hold(PEER)) == (RemoveFromBridge(BRIDGE, PEER), StartHoldMusic(PEER))
    assert bridged_legs(story) == {MAIN, THIRD}
    assert story.take(unhold(PEER)) == (StopHoldMusic(PEER), AddToBridge(BRIDGE, (PEER,)))


def test_custom_hold_music() -> None:
    """It is fetched once, when the conference is created."""
    story = inviting(music=HTTPS)
    story.take(AddMemberRequested(DAN, "7", music=HTTPS))
    assert len(story.commands_of(FetchMedia)) == 1


def test_a_conference_after_a_conference() -> None:
    """Each has its own session; ended ones are kept."""
    story = inviting()
    story.take(LegEnded(THIRD, BUSY))
    story.take(AddMemberRequested(CAROL, "7"))
    assert [each.state for each in story.call.conferences] == ["completed", "init"]


def test_members_that_left_are_bounded() -> None:
    """The oldest members that left are dropped; live members stay."""
    story = in_conference()
    for number in range(3 * MAX_LEFT_MEMBERS):
        story.take(AddMemberRequested(f"+47{number:08}", "7"))
        story.take(LegEnded(story.call.legs[-1].id, BUSY))
    known = conference(story).members
    assert [each.leg for each in known if each.is_live] == [MAIN, PEER, THIRD]
    assert len(known) == 3 + MAX_LEFT_MEMBERS
    assert known[-1].party == f"+47{3 * MAX_LEFT_MEMBERS - 1:08}"
