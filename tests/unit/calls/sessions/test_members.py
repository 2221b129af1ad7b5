"""Members of a conference: on their way in, there, gone; and what is told of each."""

import pytest

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
from engine.calls.model.state import Bridged
from tests.unit.calls.harness.builders import MAIN, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    DAN,
    FOURTH,
    PEER,
    THIRD,
    came,
    conference,
    conferring,
    dialled_into,
    inviting,
    members,
    members_told,
    together,
)


def test_the_way_in() -> None:
    """queued, connecting, ringing, connected: each is told once."""
    story = inviting()
    assert story.take(LegCreated(THIRD), 200) == (Dial(THIRD, 30),)
    story.take(LegRinging(THIRD), 200)
    story.take(LegRinging(THIRD), 200)
    story.take(LegAnswered(THIRD), 200)
    story.take(LegAnswered(THIRD), 200)
    states = ["queued", "connecting", "ringing", "connected"]
    assert members_told(story, THIRD) == [(state, None) for state in states]
    assert conference(story).members[2].joined_ms == story.now - 200


def test_no_way_back() -> None:
    """What is told late does not undo what was told before."""
    story = came(inviting(), THIRD, "ringback")
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
def test_who_does_not_come(cause: int, reason: str) -> None:
    """The causes give the reason; the others go on."""
    story = conferring()
    story.take(AddMemberRequested(DAN, "7"))
    assert story.take(LegEnded(FOURTH, cause)) == ()
    assert members_told(story, FOURTH)[-1] == ("failed", reason)
    assert together(story) == {MAIN, PEER, THIRD}


def test_who_rings_too_long() -> None:
    """It is hung up; its time to ring was its own."""
    story = conferring()
    story.take(AddMemberRequested(DAN, "7", ring_s=12))
    story.take(LegCreated(FOURTH))
    rang = story.now
    assert story.due() == (Hangup(FOURTH, NO_ANSWER),)
    assert story.now == rang + 12_000
    assert members(story)[FOURTH] == ("failed", "no_answer")
    assert story.call.invited == ()


def test_a_leg_is_hung_up_by_request() -> None:
    """It leaves as one that hung up itself."""
    story = conferring()
    assert story.take(LegHangupRequested(PEER)) == (Hangup(PEER, NORMAL),)
    assert members(story)[PEER] == ("connected", "")
    story.take(LegEnded(PEER, NORMAL))
    assert members(story)[PEER] == ("complete", "hangup")


def test_dialled_into_a_conference() -> None:
    """A party that is dialled in is a member; it sees the caller id that was asked for."""
    story = conferring()
    assert story.take(DialRequested(DAN, 20, "4755")) == (Originate(FOURTH, DAN, "4755"),)
    assert members(story)[FOURTH] == ("queued", "")
    assert story.take(LegCreated(FOURTH)) == (Dial(FOURTH, 20),)
    assert story.take(LegAnswered(FOURTH)) == (AddToBridge(BRIDGE, (FOURTH,)),)
    assert members(story)[FOURTH] == ("connected", "")


def test_who_is_there_before_is_a_member_like_the_others() -> None:
    """A party that was dialled into the conversation can leave the conference made of it."""
    story = talking(BOB)
    third = dialled_into(story, state="answered")
    story.take(AddMemberRequested(DAN, "7"))
    story.take(LegEnded(third, NORMAL))
    assert members(story)[third] == ("complete", "hangup")
    assert story.state_as(Bridged).legs == (PEER,)


def test_members_are_told_their_conference_is_over() -> None:
    """Who is still there is complete; who was on the way has failed."""
    story = inviting()
    story.take(HangupRequested("api"))
    assert members_told(story, PEER)[-1] == ("complete", "conference_ended")
    assert members_told(story, THIRD)[-1] == ("failed", "conference_ended")
