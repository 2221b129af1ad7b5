"""Conference: a conversation of several, made out of one (design section 7)."""

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
from engine.calls.model.state import Bridged
from engine.calls.sessions.members import MAX_LEFT_MEMBERS
from tests.unit.calls.harness.builders import HTTPS, MAIN, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    CAROL,
    DAN,
    FOURTH,
    PEER,
    ROOM,
    THIRD,
    came,
    conference,
    conferences_told,
    conferring,
    dialled_into,
    hold,
    inviting,
    members,
    together,
    unhold,
)


def test_it_is_made_without_anybody_moving() -> None:
    """The first to be called in makes it of the conversation that goes on."""
    story = talking(BOB)
    asked = AddMemberRequested(CAROL, "7", agent_id="8", name="Carol")
    assert story.take(asked, 1_000) == (Originate(THIRD, CAROL, "+4799"),)
    assert (conference(story).id, conference(story).state) == (ROOM, "init")
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
    assert together(story) == {MAIN, PEER}


def test_the_first_to_answer_begins_it() -> None:
    """It joins the others in their bridge."""
    story = came(inviting(), THIRD, "ringback")
    assert story.take(LegAnswered(THIRD), 2_000) == (AddToBridge(BRIDGE, (THIRD,)),)
    assert conferences_told(story) == [("init", None), ("in-progress", None)]
    assert story.state_as(Bridged).legs == (PEER, THIRD)


def test_several_are_called_in() -> None:
    """Those who answer are together; each was told who it is."""
    story = conferring(DAN)
    assert together(story) == {MAIN, PEER, THIRD, FOURTH}
    assert len(story.call.conferences) == 1


def test_who_was_called_before_it_was_made() -> None:
    """A party that was dialled into the conversation is a member too."""
    story = talking(BOB)
    from_dial = dialled_into(story, "+4755555555")
    story.take(AddMemberRequested(CAROL, "7"))
    assert members(story)[from_dial] == ("queued", "")
    came(story, from_dial, "answered")
    assert members(story)[from_dial] == ("connected", "")
    assert conferences_told(story)[-1] == ("in-progress", None)


def test_the_invited_one_does_not_answer() -> None:
    """The two go on talking, in no conference any more."""
    story = inviting()
    assert story.take(LegEnded(THIRD, BUSY)) == ()
    assert members(story)[THIRD] == ("failed", "busy")
    assert conferences_told(story)[-1] == ("completed", "too_few_members")
    assert together(story) == {MAIN, PEER}


def test_a_member_on_hold() -> None:
    """The others talk on without it."""
    story = conferring()
    assert story.take(hold(PEER)) == (RemoveFromBridge(BRIDGE, PEER), StartHoldMusic(PEER))
    assert together(story) == {MAIN, THIRD}
    assert story.take(unhold(PEER)) == (StopHoldMusic(PEER), AddToBridge(BRIDGE, (PEER,)))


def test_music_of_its_own() -> None:
    """It is fetched when the conference is made, once."""
    story = inviting(music=HTTPS)
    story.take(AddMemberRequested(DAN, "7", music=HTTPS))
    assert len(story.wanted(FetchMedia)) == 1


def test_a_conference_after_a_conference() -> None:
    """Each has a session of its own; those that ended are kept."""
    story = inviting()
    story.take(LegEnded(THIRD, BUSY))
    story.take(AddMemberRequested(CAROL, "7"))
    assert [each.state for each in story.call.conferences] == ["completed", "init"]


def test_who_left_long_ago_is_forgotten() -> None:
    """However many come and go, the state stays small; those who are there stay."""
    story = conferring()
    for number in range(3 * MAX_LEFT_MEMBERS):
        story.take(AddMemberRequested(f"+47{number:08}", "7"))
        story.take(LegEnded(story.call.legs[-1].id, BUSY))
    known = conference(story).members
    assert [each.leg for each in known if each.is_live] == [MAIN, PEER, THIRD]
    assert len(known) == 3 + MAX_LEFT_MEMBERS
    assert known[-1].party == f"+47{3 * MAX_LEFT_MEMBERS - 1:08}"
