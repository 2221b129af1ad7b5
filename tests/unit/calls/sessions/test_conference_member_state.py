"""Members of a conference: invited, connected, left; and their events."""

import pytest

from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import (
    BUSY,
    NO_ANSWER,
    NO_USER_RESPONSE,
    NORMAL,
    REJECTED,
    TEMPORARY_FAILURE,
)
from engine.calls.model.commands import AddToBridge, Dial, Hangup, Originate
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, LegRinging
from engine.calls.model.requests import (
    AddMemberRequested,
    DialRequested,
    HangupRequested,
    LegHangupRequested,
)
from tests.harness.calls.builders import MAIN, bridged_call
from tests.harness.calls.control import (
    BOB,
    DAN,
    FOURTH,
    MIX_BRIDGE,
    PEER,
    THIRD,
    bridged_legs,
    conference,
    dial_into,
    in_conference,
    inviting,
    member_events,
    members,
    progress,
)


def test_states_of_a_joining_member() -> None:
    """queued, connecting, ringing, connected: one event each."""
    story = inviting()
    assert story.take(LegCreated(THIRD), 200) == (Dial(THIRD, 30),)
    story.take(LegRinging(THIRD), 200)
    story.take(LegRinging(THIRD), 200)
    story.take(LegAnswered(THIRD), 200)
    story.take(LegAnswered(THIRD), 200)
    states = ["queued", "connecting", "ringing", "connected"]
    assert member_events(story, THIRD) == [(state, None) for state in states]
    assert conference(story).members[2].joined_ms == story.now - 200


def test_late_events_do_not_revert_a_state() -> None:
    """A late event does not revert a later state."""
    story = progress(inviting(), THIRD, "ringback")
    story.take(LegCreated(THIRD))
    assert members(story)[THIRD] == ("ringing", "")


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (BUSY, "busy"),
        (NO_ANSWER, "no_answer"),
        (NO_USER_RESPONSE, "no_answer"),
        (REJECTED, "rejected"),
        (TEMPORARY_FAILURE, "unavailable"),
        (NORMAL, "unavailable"),
    ],
)
def test_a_member_that_does_not_answer(cause: int, reason: str) -> None:
    """The cause gives the reason; the others go on."""
    story = in_conference()
    story.take(AddMemberRequested(DAN, "7"))
    assert story.take(LegEnded(FOURTH, cause)) == ()
    assert member_events(story, FOURTH)[-1] == ("failed", reason)
    assert bridged_legs(story) == {MAIN, PEER, THIRD}


def test_a_member_that_rings_too_long() -> None:
    """It is hung up after its own ring timeout."""
    story = in_conference()
    story.take(AddMemberRequested(DAN, "7", ring_s=12))
    story.take(LegCreated(FOURTH))
    rang = story.now
    assert story.pass_deadline() == (Hangup(FOURTH, NO_ANSWER),)
    assert story.now == rang + 12_000
    assert members(story)[FOURTH] == ("failed", "no_answer")
    assert story.call.invited == ()


def test_a_leg_is_hung_up_by_request() -> None:
    """It leaves as if it had hung up itself."""
    story = in_conference()
    assert story.take(LegHangupRequested(PEER)) == (Hangup(PEER, NORMAL),)
    assert members(story)[PEER] == ("connected", "")
    story.take(LegEnded(PEER, NORMAL))
    assert members(story)[PEER] == ("complete", "hangup")


def test_dialled_into_a_conference() -> None:
    """A party that is dialled in is a member; it sees the requested caller id."""
    story = in_conference()
    assert story.take(DialRequested(DAN, 20, "4755")) == (
        Originate(FOURTH, DAN, "4755", originator=MAIN),
    )
    assert members(story)[FOURTH] == ("queued", "")
    assert story.take(LegCreated(FOURTH)) == (Dial(FOURTH, 20),)
    assert story.take(LegAnswered(FOURTH)) == (AddToBridge(MIX_BRIDGE, (FOURTH,)),)
    assert members(story)[FOURTH] == ("connected", "")


def test_parties_of_the_conversation_become_members() -> None:
    """A party that was dialled into the conversation can leave the conference."""
    story = bridged_call(BOB)
    third = dial_into(story, state="answered")
    story.take(AddMemberRequested(DAN, "7"))
    story.take(LegEnded(third, NORMAL))
    assert members(story)[third] == ("complete", "hangup")
    assert story.state_as(Bridged).legs == (PEER,)


def test_members_end_with_their_conference() -> None:
    """Connected members are complete; invited ones have failed."""
    story = inviting()
    story.take(HangupRequested("api"))
    assert member_events(story, PEER)[-1] == ("complete", "conference_ended")
    assert member_events(story, THIRD)[-1] == ("failed", "conference_ended")
