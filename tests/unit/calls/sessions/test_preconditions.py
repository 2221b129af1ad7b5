"""What can't be asked of a live call, and what it is told: a refused request changes nothing."""

from collections.abc import Callable

import pytest

from engine.calls.model.causes import BUSY
from engine.calls.model.events import LegAnswered, LegEnded
from engine.calls.model.requests import (
    AddMemberRequested,
    ControlRequest,
    DialRequested,
    HoldRequested,
    LegHangupRequested,
    MuteRequested,
)
from engine.calls.sessions.preconditions import MAX_PARTIES, check_request
from tests.unit.calls.harness.builders import (
    ID,
    MAIN,
    Story,
    called,
    dialing,
    outbound,
    say,
    talking,
)
from tests.unit.calls.harness.control import (
    BOB,
    CAROL,
    DAN,
    FOURTH,
    PEER,
    ROOM,
    SESSION,
    TARGET,
    THIRD,
    cancel,
    coach,
    complete,
    conferring,
    dialled_into,
    inviting,
    kick,
    transfer_to,
    transferring,
)

NOBODY = f"{ID}.l99"
DIAL = DialRequested(CAROL, 30)
MEMBER = AddMemberRequested(DAN, "7")


def ringing() -> Story:
    """Make a call whose main leg has not answered."""
    return Story(outbound(say()))


def ended() -> Story:
    """Make a call that has ended."""
    return called({"type": "hangup"})


def ended_conference() -> Story:
    """Make a call whose conference is over, while two still talk."""
    story = inviting()
    story.take(LegEnded(THIRD, BUSY))
    return story


def crowded() -> Story:
    """Make a conversation of as many as there may be."""
    story = talking(BOB)
    for _ in range(MAX_PARTIES - 2):
        dialled_into(story)
    return story


def three() -> Story:
    """Make a conversation of three, without a conference."""
    story = talking(BOB)
    dialled_into(story, state="answered")
    return story


def invited() -> Story:
    """Make a conversation that one more is being called into."""
    story = talking(BOB)
    dialled_into(story)
    return story


def coached() -> Story:
    """Make a conference in which Carol coaches Bob."""
    story = conferring(DAN)
    story.take(coach(THIRD, PEER))
    return story


def two() -> Story:
    """Make a plain conversation."""
    return talking(BOB)


REFUSED: list[tuple[Callable[[], Story], ControlRequest, str, str]] = [
    (ended, DIAL, "conflict", "call_ended"),
    (ended, MuteRequested(MAIN, "in"), "conflict", "call_ended"),
    (two, MuteRequested(NOBODY, "in"), "missing", "no_such_leg"),
    (two, HoldRequested(NOBODY, True), "missing", "no_such_leg"),
    (two, LegHangupRequested(NOBODY), "missing", "no_such_leg"),
    (ringing, MuteRequested(MAIN, "in"), "conflict", "leg_not_up"),
    (lambda: dialing(BOB), HoldRequested(PEER, True), "conflict", "leg_not_up"),
    (ringing, DIAL, "conflict", "not_answered"),
    (transferring, DIAL, "conflict", "transfer_in_progress"),
    (transferring, MEMBER, "conflict", "transfer_in_progress"),
    (transferring, transfer_to(), "conflict", "transfer_in_progress"),
    (crowded, DIAL, "conflict", "too_many_parties"),
    (crowded, MEMBER, "conflict", "too_many_parties"),
    (lambda: called(say()), MEMBER, "conflict", "not_in_conversation"),
    (lambda: dialing(BOB), transfer_to(), "conflict", "not_in_conversation"),
    (two, transfer_to(source=NOBODY), "missing", "no_such_leg"),
    (two, transfer_to(source=MAIN), "conflict", "not_the_two_parties"),
    (three, transfer_to(), "conflict", "not_the_two_parties"),
    (invited, transfer_to(), "conflict", "not_the_two_parties"),
    (conferring, transfer_to(), "conflict", "conference_in_progress"),
    (inviting, transfer_to(), "conflict", "conference_in_progress"),
    (two, complete(), "missing", "no_such_session"),
    (two, cancel(), "missing", "no_such_session"),
    (two, AddMemberRequested(DAN, "7", session=ROOM), "missing", "no_such_session"),
    (
        ended_conference,
        AddMemberRequested(DAN, "7", session=ROOM),
        "conflict",
        "conference_completed",
    ),
    (two, kick(PEER), "missing", "no_such_session"),
    (conferring, kick(NOBODY), "missing", "no_such_member"),
    (two, coach(MAIN, PEER), "missing", "no_such_session"),
    (ended_conference, coach(MAIN, PEER), "conflict", "conference_completed"),
    (conferring, coach(NOBODY, PEER), "missing", "no_such_member"),
    (conferring, coach(THIRD, NOBODY), "missing", "no_such_member"),
    (inviting, coach(THIRD, PEER), "conflict", "member_not_connected"),
    (inviting, coach(PEER, THIRD), "conflict", "member_not_connected"),
    (conferring, coach(PEER, PEER), "conflict", "coach_of_a_coach"),
    (coached, coach(FOURTH, THIRD), "conflict", "coach_of_a_coach"),
    (coached, coach(PEER, FOURTH), "conflict", "coach_of_a_coach"),
]


@pytest.mark.parametrize(("make", "asked", "kind", "code"), REFUSED)
def test_a_refused_request(
    make: Callable[[], Story], asked: ControlRequest, kind: str, code: str
) -> None:
    """It is named, in words that say what it was about; the call stays as it is."""
    story = make()
    refusal = check_request(story.call, asked)
    assert refusal is not None
    assert (refusal.kind, refusal.code) == (kind, code)
    assert refusal.detail
    before = story.call
    assert story.take(asked) == ()
    assert story.call is before


GRANTED: list[tuple[Callable[[], Story], ControlRequest]] = [
    (two, DIAL),
    (two, transfer_to()),
    (two, MEMBER),
    (conferring, DIAL),
    (conferring, AddMemberRequested(DAN, "7", session=ROOM)),
    (lambda: dialing(BOB), DIAL),
    (lambda: called(say()), DIAL),
    (lambda: called("https://example.com/a"), DIAL),
    (transferring, complete()),
    (transferring, cancel()),
    (transferring, LegHangupRequested(TARGET)),
    (ended_conference, kick(PEER)),
    (ended_conference, MEMBER),
    (coached, coach(THIRD, PEER)),
    (coached, coach(FOURTH, PEER)),
    (coached, coach(THIRD, MAIN)),
    (coached, coach(PEER, "")),
]


@pytest.mark.parametrize(("make", "asked"), GRANTED)
def test_what_can_be_asked(make: Callable[[], Story], asked: ControlRequest) -> None:
    """What can be done, and what holds already, is no refusal."""
    assert check_request(make().call, asked) is None


@pytest.mark.parametrize("asked", [complete(SESSION), cancel(SESSION)])
def test_an_ended_transfer_is_known(asked: ControlRequest) -> None:
    """A repeat names no stranger: it is answered as before."""
    story = transferring("ringback")
    story.take(LegEnded(TARGET, BUSY))
    assert check_request(story.call, asked) is None


def test_a_leg_that_answers_can_be_muted() -> None:
    """As soon as it is up."""
    story = dialing(BOB)
    story.take(LegAnswered(PEER))
    assert check_request(story.call, MuteRequested(PEER, "in")) is None
