"""Members of a conference: on their way in, put out, gone; and what is told of each."""

from collections.abc import Callable

import pytest

from engine.calls.causes import (
    BUSY,
    NO_ANSWER,
    NO_USER_RESPONSE,
    NORMAL,
    REJECTED,
    TEMPORARY_FAILURE,
)
from engine.calls.commands import Bridge, DestroyBridge, Hangup, Leave, Originate, Ring
from engine.calls.doing import Talking
from engine.calls.events import (
    BridgeFailed,
    DialRequested,
    Event,
    HangupRequested,
    LegAnswered,
    LegEnded,
    LegHangupRequested,
    LegPlaced,
    LegRang,
    MemberRequested,
)
from tests.unit.calls.building import MAIN, Story, say, talking
from tests.unit.calls.steering import (
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
    inviting,
    kick,
    leave,
    members,
    together,
)


def members_told(story: Story, leg: str) -> list[tuple[str | None, str | None]]:
    """List a member's states as they were told, with their reasons."""
    told = [e for e in story.told if e.event == "conference-member" and e.channel_id == leg]
    return [(each.session_state, each.reason) for each in told]


def test_the_way_in() -> None:
    """queued, connecting, ringing, connected: each is told once."""
    story = inviting()
    assert story.take(LegPlaced(THIRD), 200) == (Ring(THIRD, 30),)
    story.take(LegRang(THIRD), 200)
    story.take(LegRang(THIRD), 200)
    story.take(LegAnswered(THIRD), 200)
    story.take(LegAnswered(THIRD), 200)
    states = ["queued", "connecting", "ringing", "connected"]
    assert members_told(story, THIRD) == [(state, None) for state in states]
    assert conference(story).members[2].joined_ms == story.now - 200


def test_no_way_back() -> None:
    """What is told late does not undo what was told before."""
    story = came(inviting(), THIRD, "ringback")
    story.take(LegPlaced(THIRD))
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
    story.take(MemberRequested(DAN, "7"))
    assert story.take(LegEnded(FOURTH, cause)) == ()
    assert members_told(story, FOURTH)[-1] == ("failed", reason)
    assert together(story) == {MAIN, PEER, THIRD}


def test_who_rings_too_long() -> None:
    """It is hung up; its time to ring was its own."""
    story = conferring()
    story.take(MemberRequested(DAN, "7", ring_s=12))
    story.take(LegPlaced(FOURTH))
    rang = story.now
    assert story.due() == (Hangup(FOURTH, NO_ANSWER),)
    assert story.now == rang + 12_000
    assert members(story)[FOURTH] == ("failed", "no_answer")
    assert story.call.invited == ()


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
    story.take(MemberRequested(DAN, "7"))
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
    story.take(MemberRequested(CAROL, "7"))
    before = story.call
    assert story.take(kick(PEER, ROOM)) == ()
    assert story.call is before


def test_the_last_two() -> None:
    """One is put out: the other has nobody to talk to, its tree goes on."""
    story = conferring(action=say())
    story.take(kick(PEER))
    commands = story.take(kick(THIRD))
    assert commands[:2] == (Leave(BRIDGE, MAIN), DestroyBridge(BRIDGE))
    assert Hangup(THIRD, NORMAL) in commands
    assert story.state == "Playing"


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
    assert story.take(LegPlaced(FOURTH)) == (Ring(FOURTH, 20),)
    assert story.take(LegAnswered(FOURTH)) == (Bridge(BRIDGE, (FOURTH,)),)
    assert members(story)[FOURTH] == ("connected", "")


def test_who_is_there_before_is_a_member_like_the_others() -> None:
    """A party that was dialled into the conversation can leave the conference made of it."""
    story = talking(BOB)
    third = dialled_into(story, state="answered")
    story.take(MemberRequested(DAN, "7"))
    story.take(LegEnded(third, NORMAL))
    assert members(story)[third] == ("complete", "hangup")
    assert story.doing(Talking).legs == (PEER,)


def test_a_member_that_cannot_be_joined() -> None:
    """It is put out; the others do not notice."""
    story = conferring()
    assert story.take(BridgeFailed(BRIDGE, "no", (THIRD,))) == (Hangup(THIRD, NORMAL),)
    assert together(story) == {MAIN, PEER}
    story.take(LegEnded(THIRD, NORMAL))
    assert (members(story)[THIRD][0], conferences_told(story)[-1][0]) == (
        "complete",
        "in-progress",
    )


def test_members_are_told_their_conference_is_over() -> None:
    """Who is still there is complete; who was on the way has failed."""
    story = inviting()
    story.take(HangupRequested("api"))
    assert members_told(story, PEER)[-1] == ("complete", "conference_ended")
    assert members_told(story, THIRD)[-1] == ("failed", "conference_ended")


def test_the_last_is_put_out_while_another_rings() -> None:
    """Nobody is left to wait: with the last one's end everything ends."""
    story = inviting()
    story.take(kick(PEER))
    assert Hangup(MAIN, NORMAL) in story.take(kick(MAIN))
    assert Hangup(THIRD, NORMAL) in story.hang_up()
    assert story.state == "Ending"
