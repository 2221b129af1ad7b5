"""Transfers that come to nothing: the target, the source or the customer is not to be had."""

from collections.abc import Callable

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NO_ANSWER, NO_USER_RESPONSE, NORMAL, REJECTED
from engine.calls.model.causes import TEMPORARY_FAILURE as UNREACHABLE
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    RemoveFromBridge,
    StopHoldMusic,
    StopRinging,
)
from engine.calls.model.events import BridgeFailed, Event, LegCreated, LegEnded
from engine.calls.model.requests import HangupRequested
from tests.unit.calls.harness.builders import MAIN, Story, say, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    PEER,
    SESSION,
    TARGET,
    Way,
    cancel,
    complete,
    hold,
    seat,
    sessions_told,
    swapped,
    together,
    transfer,
    transfer_to,
    transferring,
    unhold,
)

STATES: tuple[Way, ...] = ("starting", "ringback", "answered")
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
    """Source and customer have each other back."""
    story = transferring("ringback")
    assert story.take(LegEnded(TARGET, cause)) == (
        StopHoldMusic(MAIN),
        StopRinging(PEER),
        AddToBridge(BRIDGE, (MAIN, PEER)),
    )
    assert sessions_told(story)[-1] == ("failed", reason)
    assert transfer(story).ended_ms == story.now


def test_a_target_that_cannot_be_called() -> None:
    """Nobody waits for a leg that was never made."""
    story = transferring()
    story.take(LegEnded(TARGET, UNREACHABLE))
    assert together(story) == {MAIN, PEER}


def test_a_target_that_rings_too_long() -> None:
    """It is hung up once, as one that did not answer, and told so."""
    story = transferring("ringback")
    commands = story.due()
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NO_ANSWER)]
    assert together(story) == {MAIN, PEER}
    story.take(LegEnded(TARGET, NO_ANSWER), 20)
    assert story.told[-1].leg_status == "no-answer"
    assert sessions_told(story)[-1] == ("failed", "target_no_answer")


def test_a_target_that_leaves_again() -> None:
    """After it has answered, its hangup brings the customer back too."""
    story = transferring("answered")
    assert story.take(LegEnded(TARGET, NORMAL)) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN,)),
    )
    assert together(story) == {MAIN, PEER}
    assert sessions_told(story)[-1] == ("failed", "target_hangup")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("of", [transferring, swapped])
def test_the_source_cancels(state: Way, of: Callable[[Way], Story]) -> None:
    """The target is let go, whoever is the main leg; both talk again."""
    story = of(state)
    commands = story.take(cancel())
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    assert together(story) == {MAIN, PEER}
    assert sessions_told(story)[-1] == ("canceled", "source_cancel")
    assert transfer(story).ended_by == "7"


def test_a_canceled_target_that_comes_late() -> None:
    """It is hung up again: the request to make it may have been on its way."""
    story = transferring()
    story.take(cancel())
    assert story.take(LegCreated(TARGET)) == (Hangup(TARGET, NORMAL),)


@pytest.mark.parametrize("state", STATES)
def test_the_customer_hangs_up(state: Way) -> None:
    """The customer was the main leg: the transfer is abandoned and everybody is let go."""
    story = transferring(state)
    commands = story.hang_up()
    assert {c.leg for c in commands if isinstance(c, Hangup)} == {PEER, TARGET}
    assert sessions_told(story)[-1] == ("abandoned", "customer_hangup")
    assert story.state == "ending"


@pytest.mark.parametrize("state", STATES)
def test_the_dialled_customer_hangs_up(state: Way) -> None:
    """The target is let go once, and the tree goes on with the source."""
    story = swapped(state, action=say())
    commands = story.take(LegEnded(PEER, NORMAL))
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    assert sessions_told(story)[-1] == ("abandoned", "customer_hangup")
    assert (story.state, story.call.main) == ("playing", MAIN)
    assert seat(story, MAIN) == LegMedia()


def test_the_call_is_hung_up_meanwhile() -> None:
    """The transfer is abandoned with the call; each leg is hung up once, with one cause."""
    story = transferring("answered")
    commands = story.take(HangupRequested("api", 21))
    hangups = [c for c in commands if isinstance(c, Hangup)]
    assert hangups == [Hangup(leg, 21) for leg in (MAIN, PEER, TARGET)]
    assert sessions_told(story)[-1] == ("abandoned", "call_ended")


def test_the_time_for_talking_is_over() -> None:
    """A time limit holds during a transfer too: the tree goes on with the main leg."""
    story = talking(data={"number": BOB, "timeLimit": 15}, action=say())
    story.take(transfer_to(), 10_000)
    story.take(LegCreated(TARGET))
    commands = story.due()
    assert Hangup(PEER, NORMAL) in commands
    assert Hangup(TARGET, NORMAL) in commands
    assert sessions_told(story)[-1] == ("abandoned", "conversation_ended")
    assert story.state == "playing"


def test_a_hold_outlives_a_transfer_that_failed() -> None:
    """Who held the customer is there to take it off."""
    story = talking(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to())
    story.take(LegEnded(TARGET, BUSY))
    assert seat(story, MAIN) == LegMedia(sound="music")
    assert together(story) == {PEER}
    story.take(unhold(MAIN))
    assert together(story) == {MAIN, PEER}


@pytest.mark.parametrize("again", [complete, cancel])
def test_a_repeat_on_an_ended_transfer(again: Callable[..., Event]) -> None:
    """It is harmless, and leaves a later transfer alone."""
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
    """Each has a session of its own; those that ended are kept."""
    story = transferring("ringback")
    story.take(LegEnded(TARGET, BUSY))
    story.take(transfer_to())
    assert [each.state for each in story.call.transfers] == ["failed", "starting"]
    assert len({each.id for each in story.call.transfers}) == 2


@pytest.mark.parametrize("legs", [(PEER, TARGET), (TARGET,)])
def test_a_target_that_cannot_be_joined(legs: tuple[str, ...]) -> None:
    """It is let go; source and customer have each other back."""
    story = transferring("answered")
    commands = story.take(BridgeFailed(BRIDGE, "no", legs))
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    joined = {leg for c in commands if isinstance(c, AddToBridge) for leg in c.legs}
    assert joined == {MAIN, *legs} - {TARGET}
    assert together(story) == {MAIN, PEER}
    assert sessions_told(story)[-1] == ("failed", "target_unavailable")


def test_the_bridge_is_left_for_the_prompt() -> None:
    """What the tree plays after a transfer is heard outside."""
    story = transferring("answered", action=say())
    story.take(complete())
    assert story.take(LegEnded(TARGET, NORMAL))[0] == RemoveFromBridge(BRIDGE, MAIN)
