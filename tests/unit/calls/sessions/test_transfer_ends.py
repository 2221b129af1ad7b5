"""Transfers that fail: the target, the source or the customer is not available."""

from collections.abc import Callable

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NO_ANSWER, NO_USER_RESPONSE, NORMAL, REJECTED
from engine.calls.model.causes import TEMPORARY_FAILURE as UNREACHABLE
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    RemoveFromBridge,
    ResetConverter,
    StopHoldMusic,
    StopRinging,
)
from engine.calls.model.events import BridgeFailed, Event, LegAnswered, LegCreated, LegEnded
from engine.calls.model.requests import HangupRequested
from engine.calls.sessions.transfer import MAX_KEPT_TRANSFERS
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import MAIN, Story, bridged_call, say
from tests.harness.calls.call_records import record
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    PEER,
    SESSION,
    TARGET,
    Progress,
    bridged_legs,
    cancel,
    complete,
    hold,
    media_of,
    transfer,
    transfer_events,
    transfer_to,
    transferring,
    transferring_from_main,
    unhold,
)

STATES: tuple[Progress, ...] = ("starting", "ringback", "answered")
CAUSES = [
    (BUSY, "target_busy"),
    (NO_ANSWER, "target_no_answer"),
    (NO_USER_RESPONSE, "target_no_answer"),
    (REJECTED, "target_reject"),
    (UNREACHABLE, "target_unavailable"),
    (NORMAL, "target_unavailable"),
    (0, "target_unavailable"),
]


@pytest.mark.parametrize(("cause", "reason"), CAUSES)
def test_a_target_that_does_not_answer(cause: int, reason: str) -> None:
    """Source and customer talk again."""
    story = transferring("ringback")
    assert story.take(LegEnded(TARGET, cause)) == (
        StopHoldMusic(MAIN),
        StopRinging(PEER),
        AddToBridge(BRIDGE, (MAIN, PEER)),
    )
    assert transfer_events(story)[-1] == ("failed", reason)
    assert transfer(story).ended_ms == story.now


def test_a_target_that_cannot_be_called() -> None:
    """A leg that never existed is not awaited."""
    story = transferring()
    story.take(LegEnded(TARGET, UNREACHABLE))
    assert bridged_legs(story) == {MAIN, PEER}


def test_a_target_that_rings_too_long() -> None:
    """It is hung up once, as not answered, with an event."""
    story = transferring("ringback")
    commands = story.pass_deadline()
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NO_ANSWER)]
    assert bridged_legs(story) == {MAIN, PEER}
    story.take(LegEnded(TARGET, NO_ANSWER), 20)
    assert story.emitted[-1].leg_status == "no-answer"
    assert transfer_events(story)[-1] == ("failed", "target_no_answer")


def test_a_target_that_hangs_up() -> None:
    """After its answer, its hangup brings the customer back too."""
    story = transferring("answered")
    assert story.take(LegEnded(TARGET, NORMAL)) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN,)),
        ResetConverter(PEER),  # it has heard the target
    )
    assert bridged_legs(story) == {MAIN, PEER}
    assert transfer_events(story)[-1] == ("failed", "target_hangup")


@pytest.mark.parametrize("end", [cancel(), LegEnded(TARGET, NORMAL)], ids=["canceled", "ended"])
def test_the_customer_is_held_meanwhile(end: Event) -> None:
    """The source is alone in between; it gets a new converter for the customer all the same."""
    story = transferring("answered")
    story.take(hold(MAIN))
    assert ResetConverter(PEER) not in story.take(end)
    assert story.take(unhold(MAIN))[-1] == ResetConverter(PEER)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("of", [transferring, transferring_from_main])
def test_the_source_cancels(state: Progress, of: Callable[[Progress], Story]) -> None:
    """The target is hung up, whichever leg is the main leg; both talk again."""
    story = of(state)
    commands = story.take(cancel())
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    assert bridged_legs(story) == {MAIN, PEER}
    assert transfer_events(story)[-1] == ("canceled", "source_cancel")
    assert transfer(story).ended_by == "7"


def test_a_canceled_target_that_appears_late() -> None:
    """It is hung up again: its originate may have been on its way."""
    story = transferring()
    story.take(cancel())
    assert story.take(LegCreated(TARGET)) == (Hangup(TARGET, NORMAL),)


@pytest.mark.parametrize("state", STATES)
def test_the_customer_hangs_up(state: Progress) -> None:
    """The customer was the main leg: the transfer is abandoned and all legs are hung up."""
    story = transferring(state)
    commands = story.hang_up()
    assert {c.leg for c in commands if isinstance(c, Hangup)} == {PEER, TARGET}
    assert transfer_events(story)[-1] == ("abandoned", "customer_hangup")
    assert story.state == "ending"


@pytest.mark.parametrize("state", STATES)
def test_the_dialled_customer_hangs_up(state: Progress) -> None:
    """The target is hung up once, by the customer; the tree continues on the source's leg."""
    story = transferring_from_main(state, action=say())
    commands = story.take(LegEnded(PEER, NORMAL))
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    assert transfer_events(story)[-1] == ("abandoned", "customer_hangup")
    assert (story.state, story.call.main) == ("playing", MAIN)
    assert media_of(story, MAIN) == LegMedia()
    story.hang_up()
    assert [leg.ended_by for leg in record(story).legs if leg.channel_id == TARGET] == ["callee"]


def test_the_call_is_hung_up_meanwhile() -> None:
    """The transfer is abandoned with the call; each leg is hung up once, with one cause."""
    story = transferring("answered")
    commands = story.take(HangupRequested("api", 21))
    hangups = [c for c in commands if isinstance(c, Hangup)]
    assert hangups == [Hangup(leg, 21) for leg in (MAIN, PEER, TARGET)]
    assert transfer_events(story)[-1] == ("abandoned", "call_ended")


def test_the_dial_time_limit() -> None:
    """It does not end a transfer; when the source gets the customer back, it counts again."""
    story = bridged_call(data={"number": BOB, "timeLimit": 15}, action=say())
    story.take(transfer_to(), 10_000)
    story.take(LegCreated(TARGET))
    story.take(LegAnswered(TARGET), 5_500)
    assert transfer(story).state == "answered"
    story.take(LegEnded(TARGET, NORMAL), 1_000)
    assert story.pass_deadline()[-2] == Hangup(PEER, NORMAL)
    assert story.state == "playing"


def test_the_dial_time_limit_after_a_transfer() -> None:
    """The customer and the target talk without the limit of the dial."""
    story = bridged_call(data={"number": BOB, "timeLimit": 15}, action=say())
    story.take(transfer_to(), 10_000)
    story.take(LegAnswered(TARGET), 1_000)
    story.take(complete())
    story.take(LegEnded(PEER, NORMAL))
    assert deadline_ms(story.call) == story.call.must_end_ms


def test_a_hold_outlives_a_failed_transfer() -> None:
    """The party that held the customer can take it off hold."""
    story = bridged_call(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to())
    story.take(LegEnded(TARGET, BUSY))
    assert media_of(story, MAIN) == LegMedia(sound="music")
    assert bridged_legs(story) == {PEER}
    story.take(unhold(MAIN))
    assert bridged_legs(story) == {MAIN, PEER}


@pytest.mark.parametrize("again", [complete, cancel])
def test_a_repeat_on_an_ended_transfer(again: Callable[..., Event]) -> None:
    """It is harmless, and does not affect a later transfer."""
    story = transferring("ringback")
    story.take(cancel())
    before = story.call
    assert story.take(again()) == ()
    assert story.call is before
    story.take(transfer_to())
    later = story.call
    assert story.take(again(SESSION)) == ()
    assert story.call is later
    assert transfer(story).state == "starting"


def test_one_transfer_follows_another() -> None:
    """Each has its own session; ended ones are kept."""
    story = transferring("ringback")
    story.take(LegEnded(TARGET, BUSY))
    story.take(transfer_to())
    assert [each.state for each in story.call.transfers] == ["failed", "starting"]
    assert len({each.id for each in story.call.transfers}) == 2


@pytest.mark.parametrize("legs", [(PEER, TARGET), (TARGET,)])
def test_a_target_that_cannot_be_bridged(legs: tuple[str, ...]) -> None:
    """It is hung up; source and customer talk again."""
    story = transferring("answered")
    commands = story.take(BridgeFailed(BRIDGE, "no", legs))
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    joined = {leg for c in commands if isinstance(c, AddToBridge) for leg in c.legs}
    assert joined == {MAIN, *legs} - {TARGET}
    assert bridged_legs(story) == {MAIN, PEER}
    assert transfer_events(story)[-1] == ("failed", "target_unavailable")


def test_the_bridge_is_left_for_the_prompt() -> None:
    """A prompt after a transfer is played outside the bridge."""
    story = transferring("answered", action=say())
    story.take(complete())
    assert story.take(LegEnded(TARGET, NORMAL))[0] == RemoveFromBridge(BRIDGE, MAIN)


def test_the_latest_transfers_are_kept() -> None:
    """Exactly twenty: a call may last for hours."""
    story = bridged_call(BOB)
    for _ in range(MAX_KEPT_TRANSFERS + 2):
        story.take(transfer_to(), 1_000)
        story.take(LegEnded(transfer(story).target, BUSY), 1_000)
    assert len(story.call.transfers) == MAX_KEPT_TRANSFERS
