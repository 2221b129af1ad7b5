"""Blind transfer: the source leaves at once, the customer waits for the target alone."""

import json

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NO_ANSWER, NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    Originate,
    RemoveFromBridge,
    StartHoldMusic,
    StopHoldMusic,
)
from engine.calls.model.events import LegAnswered, LegEnded, LegRinging
from engine.calls.model.io_commands import SendWebhook
from tests.unit.calls.harness.builders import HTTPS, MAIN, Story, say, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    CAROL,
    PEER,
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
)

WAITING: tuple[Way, ...] = ("starting", "ringback")


def blind(state: Way = "starting", action: object = None) -> Story:
    """Make a call whose main is handed on without a word."""
    return transferring(state, action=action, mode="blind")


def test_the_source_goes_at_once() -> None:
    """The customer hears music, the target is called, the source is hung up."""
    story = talking(BOB)
    assert story.take(transfer_to(mode="blind")) == (
        RemoveFromBridge(BRIDGE, MAIN),
        StartHoldMusic(MAIN),
        Originate(TARGET, CAROL, "+4799"),
        Hangup(PEER, NORMAL),
    )
    assert story.take(LegEnded(PEER, NORMAL), 30) == ()
    assert transfer(story).state == "starting"


def test_the_target_answers() -> None:
    """Customer and target talk: the transfer is done."""
    story = blind("ringback")
    assert story.take(LegAnswered(TARGET), 900) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN, TARGET)),
    )
    assert sessions_told(story) == [
        ("starting", None),
        ("ringback", None),
        ("blind_transferred", None),
    ]
    assert transfer(story).ended_ms == story.now


def test_the_main_leg_hands_its_party_over() -> None:
    """The dialled leg becomes the main one at once; the old one's end is not the call's."""
    story = swapped("starting", "blind", action=say())
    assert story.call.main == PEER
    story.take(LegEnded(MAIN, NORMAL), 30)
    story.take(LegAnswered(TARGET), 900)
    assert together(story) == {PEER, TARGET}
    story.take(LegEnded(TARGET, NORMAL), 900)
    assert story.state == "playing"


@pytest.mark.parametrize(
    ("cause", "status", "reason"),
    [(BUSY, "busy", "target_busy"), (NO_ANSWER, "no-answer", "target_no_answer")],
)
@pytest.mark.parametrize("state", WAITING)
def test_a_target_that_does_not_answer(state: Way, cause: int, status: str, reason: str) -> None:
    """The customer is not left alone: the tree goes on, and is told why."""
    story = blind(state, HTTPS)
    assert story.take(LegEnded(TARGET, cause))[0] == StopHoldMusic(MAIN)
    dial = json.loads(story.wanted(SendWebhook)[-1].body)["dial"]
    assert (dial["status"], dial["cause"]) == (status, cause)
    assert sessions_told(story)[-1] == ("failed", reason)


def test_a_target_that_rings_too_long() -> None:
    """Its time is up: it is hung up once and the tree goes on."""
    story = blind("ringback", say())
    commands = story.due()
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NO_ANSWER)]
    assert story.state == "playing"


def test_a_tree_that_ends_there() -> None:
    """Without a further action the customer is hung up, not left with music for ever."""
    story = blind("ringback")
    assert Hangup(MAIN, NORMAL) in story.take(LegEnded(TARGET, BUSY))
    assert story.state == "ending"


@pytest.mark.parametrize("state", WAITING)
def test_canceled(state: Way) -> None:
    """Nobody is there to have the customer back: the tree goes on."""
    story = blind(state, HTTPS)
    commands = story.take(cancel())
    assert Hangup(TARGET, NORMAL) in commands
    assert json.loads(story.wanted(SendWebhook)[-1].body)["dial"]["status"] == "canceled"
    assert sessions_told(story)[-1] == ("canceled", "source_cancel")


def test_complete_is_nothing_new() -> None:
    """It is on its way without the source already."""
    story = blind("ringback")
    before = story.call
    assert story.take(complete()) == ()
    assert story.call is before


@pytest.mark.parametrize("state", WAITING)
def test_the_customer_hangs_up(state: Way) -> None:
    """The target is let go."""
    story = blind(state)
    assert Hangup(TARGET, NORMAL) in story.hang_up()
    assert sessions_told(story)[-1] == ("abandoned", "customer_hangup")


def test_the_time_for_talking_is_over() -> None:
    """Target and source are each let go once; the tree goes on."""
    story = talking(data={"number": BOB, "timeLimit": 15}, action=say())
    story.take(transfer_to(mode="blind"), 10_000)
    story.take(LegRinging(TARGET))
    commands = story.due()
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NORMAL)]
    assert (story.state, transfer(story).state) == ("playing", "abandoned")


def test_the_target_hangs_up_after_all() -> None:
    """The conversation was a dial's: its nested action runs."""
    story = blind("answered", say())
    story.take(LegEnded(TARGET, NORMAL), 9_000)
    assert story.state == "playing"


def test_a_held_customer_is_free() -> None:
    """The source that held it is gone."""
    story = talking(BOB)
    story.take(hold(MAIN))
    assert StartHoldMusic(MAIN) not in story.take(transfer_to(mode="blind"))
    assert seat(story, MAIN) == LegMedia(sound="music")
    assert story.call.leg(MAIN).held is False  # type: ignore[union-attr]  # it is there
    story.take(LegAnswered(TARGET))
    assert together(story) == {MAIN, TARGET}
