"""Conference: a conversation of several, made from one of two."""

import pytest

from engine.calls.media.plan import LegMedia, desired_media
from engine.calls.model.call import agent_of
from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import BUSY, NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Originate,
    RemoveFromBridge,
    StartHoldMusic,
    StopHoldMusic,
)
from engine.calls.model.events import LegAnswered, LegEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import AddMemberRequested, KickRequested
from engine.calls.model.sessions import HoldMusic
from engine.calls.reporting.call_record import build_call_record
from engine.calls.sessions.conference_member_state import MAX_LEFT_MEMBERS
from tests.harness.calls.builders import CLIPS, HTTPS, MAIN, Story, bridged_call
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    CAROL,
    CONFERENCE,
    DAN,
    FOURTH,
    MIX_BRIDGE,
    PEER,
    THIRD,
    bridged_legs,
    conference,
    conference_events,
    dial_into,
    hold,
    in_conference,
    inviting,
    media_of,
    member,
    members,
    progress,
    unhold,
)


def test_it_is_created_without_media_changes() -> None:
    """The first invitation turns the current conversation into a conference."""
    story = bridged_call(BOB)
    request = AddMemberRequested(CAROL, "7", agent_id="8", name="Carol")
    assert story.take(request, 1_000) == (Originate(THIRD, CAROL, "+4799", originator=MAIN),)
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
    """All three move to a bridge that always mixes, and stay there when two are left."""
    story = progress(inviting(), THIRD, "ringback")
    assert story.take(LegAnswered(THIRD), 2_000) == (
        AddToBridge(MIX_BRIDGE, (MAIN, PEER, THIRD)),
        DestroyBridge(BRIDGE),
    )
    assert conference_events(story) == [("init", None), ("in-progress", None)]
    assert story.state_as(Bridged).legs == (PEER, THIRD)
    assert story.take(LegEnded(PEER, NORMAL), 3_000) == ()
    assert media_of(story, MAIN) == LegMedia(MIX_BRIDGE)


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
    """The other two talk on, and the conference ends; the next one has its own session."""
    story = inviting()
    assert story.take(LegEnded(THIRD, BUSY)) == ()
    assert members(story)[THIRD] == ("failed", "busy")
    assert conference_events(story)[-1] == ("completed", "too_few_members")
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(AddMemberRequested(CAROL, "7"))
    assert [each.state for each in story.call.conferences] == ["completed", "init"]


def test_a_member_on_hold() -> None:
    """The others talk on without it."""
    story = in_conference()
    assert story.take(hold(PEER)) == (RemoveFromBridge(MIX_BRIDGE, PEER), StartHoldMusic(PEER))
    assert bridged_legs(story) == {MAIN, THIRD}
    assert story.take(unhold(PEER)) == (StopHoldMusic(PEER), AddToBridge(MIX_BRIDGE, (PEER,)))


def test_custom_hold_music() -> None:
    """It is fetched for each invitation that names it."""
    story = inviting(music=HTTPS)
    story.take(AddMemberRequested(DAN, "7"))
    assert len(story.commands_of(FetchMedia)) == 1
    story.take(AddMemberRequested("+4733", "7", music=HTTPS))
    assert len(story.commands_of(FetchMedia)) == 2


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


def waiting(*others: str) -> Story:
    """Return a conference whose customer, the main leg, waits for Dan with custom music."""
    story = in_conference(*others) if others else bridged_call(BOB)
    request = AddMemberRequested(
        DAN, "7", music=HTTPS, source=PEER, customer=MAIN, source_agent="7"
    )
    story.take(request, 1_000)
    return story


def test_the_customer_hears_the_music_until_the_member_joins() -> None:
    """Music for the customer, ringing for the source who is alone; then all are bridged."""
    story = waiting()
    dan = story.call.legs[-1].id
    assert bridged_legs(story) == set()
    assert desired_media(story.call)[MAIN].sound == "music"
    assert desired_media(story.call)[PEER].sound == "ringing"
    fetch = story.commands_of(FetchMedia)[-1]
    story.take(MediaFetched(fetch.request, (CLIPS[0],)))
    assert isinstance(desired_media(story.call)[MAIN].sound, HoldMusic)
    progress(story, dan, "answered")
    assert bridged_legs(story) == {MAIN, PEER, dan}
    assert {each.sound for each in desired_media(story.call).values()} == {""}


def test_the_customer_returns_when_the_member_does_not_join() -> None:
    """Source and customer talk again; with others present, only the customer waits."""
    story = waiting(CAROL)
    dan = story.call.legs[-1].id
    assert bridged_legs(story) == {leg.id for leg in story.call.legs} - {MAIN, dan}
    story.take(LegEnded(dan, BUSY), 1_000)
    assert MAIN in bridged_legs(story)
    assert {each.sound for each in desired_media(story.call).values()} == {""}


def test_the_source_is_the_agent_that_the_request_names() -> None:
    """Its leg, member, events and record have the agent's id; a known agent stays."""
    story = waiting()
    assert agent_of(story.call, PEER) == "7"
    assert member(story, PEER).agent_id == "7"
    story.take(AddMemberRequested(CAROL, "7", source=PEER, source_agent="8"))
    assert agent_of(story.call, PEER) == "7"
    other = in_conference()
    other.take(AddMemberRequested(DAN, "7", source=PEER, source_agent="7"))
    assert member(other, PEER).agent_id == "7"


@pytest.mark.parametrize("is_leave", [False, True])
def test_the_requester_of_a_removal_is_reported(is_leave: bool) -> None:
    """The member's event, view and record name the agent who kicked it or left with it."""
    story = in_conference(DAN)
    assert bridged_legs(story) == {MAIN, PEER, THIRD, FOURTH}
    assert len(story.call.conferences) == 1
    story.take(KickRequested(CONFERENCE, PEER, "7", is_leave=is_leave), 1_000)
    event = next(each for each in reversed(story.emitted) if each.event == "conference-member")
    assert (event.channel_id, event.requested_by) == (PEER, "7")
    member = next(each for each in build_call_record(story.call).conferences[0].members
                  if each.channel_id == PEER)  # fmt: skip
    assert member.removed_by == "7"
    assert agent_of(story.call, PEER) == ("7" if is_leave else "")
