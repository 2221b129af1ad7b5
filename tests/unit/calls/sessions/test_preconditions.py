"""Requests that a live call rejects: a rejected request changes nothing."""

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
from engine.calls.sessions.preconditions import check_request
from tests.harness.calls.builders import (
    ID,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    outbound,
    say,
)
from tests.harness.calls.control import (
    BOB,
    CAROL,
    CONFERENCE,
    DAN,
    FOURTH,
    PEER,
    SESSION,
    TARGET,
    THIRD,
    cancel,
    coach,
    complete,
    dial_into,
    in_conference,
    inviting,
    kick,
    transfer_to,
    transferring,
)

UNKNOWN = f"{ID}.l99"
DIAL = DialRequested(CAROL, 30)
MEMBER = AddMemberRequested(DAN, "7")


def ringing() -> Story:
    """Return a call whose main leg has not answered."""
    return Story(outbound(say()))


def ended() -> Story:
    """Return a call that has ended."""
    return answered_call({"type": "hangup"})


def ended_conference() -> Story:
    """Return a call whose conference has ended, while two parties still talk."""
    story = inviting()
    story.take(LegEnded(THIRD, BUSY))
    return story


def full() -> Story:
    """Return a conversation with as many parties as a conversation may have: 32."""
    story = bridged_call(BOB)
    for _ in range(30):
        dial_into(story)
    return story


def three() -> Story:
    """Return a conversation of three, without a conference."""
    story = bridged_call(BOB)
    dial_into(story, state="answered")
    return story


def invited() -> Story:
    """Return a conversation into which one more party is called."""
    story = bridged_call(BOB)
    dial_into(story)
    return story


def coached() -> Story:
    """Return a conference in which Carol coaches Bob."""
    story = in_conference(DAN)
    story.take(coach(THIRD, PEER))
    return story


def two() -> Story:
    """Return a conversation of two."""
    return bridged_call(BOB)


REJECTED: list[tuple[Callable[[], Story], ControlRequest, str, str]] = [
    (ended, DIAL, "conflict", "call_ended"),
    (ended, MuteRequested(MAIN, "in"), "conflict", "call_ended"),
    (two, MuteRequested(UNKNOWN, "in"), "missing", "no_such_leg"),
    (two, HoldRequested(UNKNOWN, True), "missing", "no_such_leg"),
    (two, LegHangupRequested(UNKNOWN), "missing", "no_such_leg"),
    (ringing, MuteRequested(MAIN, "in"), "conflict", "leg_not_up"),
    (lambda: dialing_call(BOB), HoldRequested(PEER, True), "conflict", "leg_not_up"),
    (ringing, DIAL, "conflict", "not_answered"),
    (transferring, DIAL, "conflict", "transfer_in_progress"),
    (transferring, MEMBER, "conflict", "transfer_in_progress"),
    (transferring, transfer_to(), "conflict", "transfer_in_progress"),
    (full, DIAL, "conflict", "too_many_parties"),
    (full, MEMBER, "conflict", "too_many_parties"),
    (lambda: answered_call(say()), MEMBER, "conflict", "not_in_conversation"),
    (lambda: dialing_call(BOB), transfer_to(), "conflict", "not_in_conversation"),
    (two, transfer_to(source=UNKNOWN), "missing", "no_such_leg"),
    (two, transfer_to(source=MAIN), "conflict", "not_the_two_parties"),
    (three, transfer_to(), "conflict", "not_the_two_parties"),
    (invited, transfer_to(), "conflict", "not_the_two_parties"),
    (in_conference, transfer_to(), "conflict", "conference_in_progress"),
    (inviting, transfer_to(), "conflict", "conference_in_progress"),
    (two, complete(), "missing", "no_such_session"),
    (two, cancel(), "missing", "no_such_session"),
    (two, AddMemberRequested(DAN, "7", session=CONFERENCE), "missing", "no_such_session"),
    (
        ended_conference,
        AddMemberRequested(DAN, "7", session=CONFERENCE),
        "conflict",
        "conference_completed",
    ),
    (two, kick(PEER), "missing", "no_such_session"),
    (in_conference, kick(UNKNOWN), "missing", "no_such_member"),
    (two, coach(MAIN, PEER), "missing", "no_such_session"),
    (ended_conference, coach(MAIN, PEER), "conflict", "conference_completed"),
    (in_conference, coach(UNKNOWN, PEER), "missing", "no_such_member"),
    (in_conference, coach(THIRD, UNKNOWN), "missing", "no_such_member"),
    (inviting, coach(THIRD, PEER), "conflict", "member_not_connected"),
    (inviting, coach(PEER, THIRD), "conflict", "member_not_connected"),
    (in_conference, coach(PEER, PEER), "conflict", "coach_of_a_coach"),
    (coached, coach(FOURTH, THIRD), "conflict", "coach_of_a_coach"),
    (coached, coach(PEER, FOURTH), "conflict", "coach_of_a_coach"),
]


@pytest.mark.parametrize(("make", "event", "kind", "code"), REJECTED)
def test_a_rejected_request(
    make: Callable[[], Story], event: ControlRequest, kind: str, code: str
) -> None:
    """Its code and detail name the problem; the call does not change."""
    story = make()
    rejection = check_request(story.call, event)
    assert rejection is not None
    assert (rejection.kind, rejection.code) == (kind, code)
    assert rejection.detail
    before = story.call
    assert story.take(event) == ()
    assert story.call is before


ACCEPTED: list[tuple[Callable[[], Story], ControlRequest]] = [
    (two, DIAL),
    (two, transfer_to()),
    (two, MEMBER),
    (in_conference, DIAL),
    (in_conference, AddMemberRequested(DAN, "7", session=CONFERENCE)),
    (lambda: dialing_call(BOB), DIAL),
    (lambda: answered_call(say()), DIAL),
    (lambda: answered_call("https://example.com/a"), DIAL),
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


@pytest.mark.parametrize(("make", "event"), ACCEPTED)
def test_accepted_requests(make: Callable[[], Story], event: ControlRequest) -> None:
    """Requests that can be applied, or already hold, are accepted."""
    assert check_request(make().call, event) is None


@pytest.mark.parametrize("event", [complete(SESSION), cancel(SESSION)])
def test_an_ended_transfer_is_known(event: ControlRequest) -> None:
    """A repeated request about an ended transfer is accepted."""
    story = transferring("ringback")
    story.take(LegEnded(TARGET, BUSY))
    assert check_request(story.call, event) is None


def test_a_leg_that_answers_can_be_muted() -> None:
    """A leg can be muted as soon as it is up."""
    story = dialing_call(BOB)
    story.take(LegAnswered(PEER))
    assert check_request(story.call, MuteRequested(PEER, "in")) is None


@pytest.mark.parametrize("party", [BOB, "agent:7", "+4711111111"], ids=["source", "agent", "main"])
def test_a_transfer_to_a_party_of_the_call(party: str) -> None:
    """The source, also as an agent, and the customer: no phone rings for itself."""
    story = bridged_call(data={"number": BOB, "agent_id": "7"})
    rejection = check_request(story.call, transfer_to(party))
    assert rejection is not None
    assert (rejection.kind, rejection.code) == ("conflict", "already_a_party")
    assert check_request(story.call, transfer_to(CAROL)) is None
