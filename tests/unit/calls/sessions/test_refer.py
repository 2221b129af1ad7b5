"""REFER by a phone: a blind transfer of whose outcome the phone is notified."""

import pytest

from engine.calls.model.causes import BUSY, NO_ANSWER, NORMAL, REJECTED, TEMPORARY_FAILURE
from engine.calls.model.commands import AnswerRefer, Hangup, ReferOutcome
from engine.calls.model.events import (
    LegAnswered,
    LegEnded,
    LegHeldByPhone,
    LegRinging,
    Recovered,
)
from engine.calls.model.requests import LegHangupRequested, ReferReceived
from tests.harness.calls.builders import ID, MAIN, Story, bridged_call, dialing_call, say
from tests.harness.calls.control import (
    BOB,
    CAROL,
    PEER,
    TARGET,
    Progress,
    bridged_legs,
    cancel,
    complete,
    in_conference,
    media_of,
    progress,
    transfer,
    transfer_events,
    transferring,
)

DECLINED = AnswerRefer(PEER, accepted=False)
ANSWERED = AnswerRefer(PEER, accepted=True)
SECOND = f"{ID}.l2"
AGENT = "1001"


def referring(state: Progress = "starting", action: object = None) -> Story:
    """Return a call in which Bob's phone has sent REFER to Carol."""
    story = bridged_call(BOB, action=action)
    story.take(ReferReceived(PEER, CAROL), 10_000)
    return progress(story, TARGET, state)


def test_the_phone_is_notified_of_the_answer() -> None:
    """100 at once, 200 when the target answers; then the phone is hung up."""
    story = referring()
    assert AnswerRefer(PEER, True, "in-progress") in story.commands
    assert (media_of(story, MAIN).sound, media_of(story, PEER).sound) == ("music", "ringing")
    story.take(LegRinging(TARGET), 500)
    assert ANSWERED not in story.commands
    commands = story.take(LegAnswered(TARGET), 3_000)
    assert commands[-2:] == (ANSWERED, Hangup(PEER, NORMAL))
    assert bridged_legs(story) == {MAIN, TARGET}
    story.take(LegEnded(PEER, NORMAL), 50)
    assert story.state == "bridged"
    states = [state for state, _ in transfer_events(story)]
    assert states == ["starting", "ringback", "blind_transferred"]


OUTCOMES: list[tuple[int, ReferOutcome]] = [
    (BUSY, "unavailable"),
    (NO_ANSWER, "unavailable"),
    (TEMPORARY_FAILURE, "unavailable"),
    (REJECTED, ""),
]


@pytest.mark.parametrize(("cause", "outcome"), OUTCOMES)
@pytest.mark.parametrize("state", ["starting", "ringback"])
def test_a_target_that_is_not_reached(state: Progress, cause: int, outcome: ReferOutcome) -> None:
    """The phone is notified of the failure, and both parties stay connected."""
    story = referring(state, say())
    assert AnswerRefer(PEER, False, outcome) in story.take(LegEnded(TARGET, cause), 900)
    assert bridged_legs(story) == {MAIN, PEER}
    assert transfer(story).state == "failed"


@pytest.mark.parametrize("state", ["starting", "ringback"])
def test_the_phone_hangs_up_before_the_answer(state: Progress) -> None:
    """Most phones do so after a provisional NOTIFY: the customer waits for the target."""
    story = referring(state, say())
    story.take(LegEnded(PEER, NORMAL), 200)
    assert media_of(story, MAIN).sound == "music"
    commands = story.take(LegAnswered(TARGET), 2_000)
    assert not [each for each in commands if isinstance(each, AnswerRefer | Hangup)]
    assert bridged_legs(story) == {MAIN, TARGET}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("source", [PEER, MAIN])
def test_a_request_hangs_the_phone_up_at_the_same_time(source: str, *, is_first: bool) -> None:
    """The customer waits for the target, as after a hangup by the phone itself."""
    story = bridged_call(BOB)
    both = (LegHangupRequested(source), ReferReceived(source, CAROL))
    for event in both if is_first else reversed(both):
        story.take(event)
    story.take(LegEnded(source, NORMAL))
    customer = MAIN if source == PEER else PEER
    assert media_of(story, customer).sound == "music"
    story.take(LegAnswered(TARGET), 2_000)
    assert bridged_legs(story) == {customer, TARGET}


def test_a_failure_after_the_phone_has_left() -> None:
    """The tree continues after the dial."""
    story = referring("ringback", say())
    story.take(LegEnded(PEER, NORMAL), 200)
    story.take(LegEnded(TARGET, BUSY), 2_000)
    assert story.state == "playing"


def test_the_main_leg_refers() -> None:
    """The call continues on the other leg, which was the customer's."""
    story = bridged_call(BOB)
    story.take(ReferReceived(MAIN, CAROL), 1_000)
    assert story.call.main == MAIN
    story.take(LegAnswered(TARGET), 2_000)
    story.take(LegEnded(MAIN, NORMAL), 50)
    assert (story.call.main, bridged_legs(story)) == (PEER, {PEER, TARGET})


def test_the_customer_hangs_up() -> None:
    """The target is hung up, and the phone notified."""
    story = referring("ringback")
    commands = story.hang_up()
    assert DECLINED in commands
    assert Hangup(TARGET, NORMAL) in commands


def test_a_request_cancels_it() -> None:
    """Both parties stay connected."""
    story = referring("ringback")
    assert DECLINED in story.take(cancel())
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_request_completes_it() -> None:
    """The source is released before the target answers."""
    story = referring("ringback")
    assert Hangup(PEER, NORMAL) in story.take(complete())
    story.take(LegEnded(PEER, NORMAL), 50)
    story.take(LegAnswered(TARGET), 2_000)
    assert bridged_legs(story) == {MAIN, TARGET}


def test_the_phone_holds_first() -> None:
    """As phones do: the customer hears music throughout, and then the target."""
    story = bridged_call(BOB)
    story.take(LegHeldByPhone(PEER))
    story.take(ReferReceived(PEER, CAROL), 1_000)
    assert media_of(story, MAIN).sound == "music"
    story.take(LegEnded(TARGET, BUSY), 2_000)
    assert media_of(story, MAIN).sound == "music"
    story.take(LegHeldByPhone(PEER))
    assert transfer(story).state == "failed"


@pytest.mark.parametrize(
    "refer",
    [
        ReferReceived(PEER, CAROL, rejection="not_allowed"),
        ReferReceived(PEER, CAROL, rejection="agent_offline"),
        ReferReceived(PEER, ""),
        ReferReceived(PEER, BOB),
        ReferReceived(PEER, CAROL, replaces=True),
    ],
    ids=["not allowed", "offline", "no number", "itself", "replaces"],
)
def test_what_is_impossible_is_declined(refer: ReferReceived) -> None:
    """603 at once, and both parties stay connected."""
    story = bridged_call(BOB)
    assert story.take(refer) == (DECLINED,)
    assert bridged_legs(story) == {MAIN, PEER}
    assert not story.call.transfers


def test_a_refer_without_a_conversation_of_two_is_declined() -> None:
    ringing, conference = dialing_call(BOB), in_conference()
    assert ringing.take(ReferReceived(MAIN, CAROL)) == (AnswerRefer(MAIN, accepted=False),)
    assert conference.take(ReferReceived(PEER, "+4799999999")) == (DECLINED,)


@pytest.mark.parametrize("replaces", [False, True])
def test_a_second_refer_gets_the_outcome_of_the_first(*, replaces: bool) -> None:
    """Asterisk notifies the phone of an outcome for both."""
    story = referring()
    assert story.take(ReferReceived(PEER, "+4799999999", replaces=replaces)) == ()
    assert transfer(story).is_live


def test_a_refer_of_the_other_party_is_declined() -> None:
    """The transfer that is going on continues."""
    story = referring()
    declined = AnswerRefer(MAIN, accepted=False)
    assert story.take(ReferReceived(MAIN, "+4799999999")) == (declined,)
    assert transfer(story).is_live


def test_a_refer_after_a_failed_one() -> None:
    story = referring()
    story.take(LegEnded(TARGET, BUSY), 900)
    assert AnswerRefer(PEER, True, "in-progress") in story.take(ReferReceived(PEER, "+4799999999"))


def test_a_transfer_by_request_notifies_nobody() -> None:
    story = transferring("ringback", mode="blind")
    story.take(LegEnded(TARGET, BUSY), 900)
    assert not story.commands_of(AnswerRefer)


def test_a_leg_that_is_being_hung_up_is_no_customer() -> None:
    """Another leg has answered first; the caller's phone refers the one that it talks to."""
    story = dialing_call(BOB, CAROL)
    story.take(LegAnswered(SECOND), 2_000)
    story.take(ReferReceived(MAIN, "+4712121212"), 10)
    assert transfer(story).customer == SECOND


def test_a_refer_that_no_engine_has_heard_is_declined() -> None:
    """An agent's phone may have sent it in the outage, and waits; another party's is not asked."""
    story = bridged_call(f"agent:{AGENT}")
    assert DECLINED in story.take(Recovered())
    assert AnswerRefer(MAIN, accepted=False) not in story.commands


def test_a_refer_that_is_going_on_survives_a_recovery() -> None:
    story = bridged_call(f"agent:{AGENT}")
    story.take(ReferReceived(PEER, CAROL))
    assert DECLINED not in story.take(Recovered())
