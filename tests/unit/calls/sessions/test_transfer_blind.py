"""Blind transfer: the source leaves when the target rings; then the customer waits alone."""

import json

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NO_ANSWER, NORMAL, TEMPORARY_FAILURE
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    Originate,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StopHoldMusic,
)
from engine.calls.model.events import LegAnswered, LegEnded, LegRinging
from engine.calls.model.io_commands import SendWebhook
from engine.calls.states import deadline_ms
from tests.harness.calls.builders import HTTPS, MAIN, Story, bridged_call, say
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    CAROL,
    PEER,
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
)

WAITING: tuple[Progress, ...] = ("starting", "ringback")


def blind(state: Progress = "starting", action: object = None) -> Story:
    """Return a call whose main leg is transferred blind."""
    return transferring(state, action=action, mode="blind")


def test_the_source_leaves_when_the_target_rings() -> None:
    """The customer hears music, the source ringing until the target rings."""
    story = bridged_call(BOB)
    assert story.take(transfer_to(mode="blind")) == (
        RemoveFromBridge(BRIDGE, MAIN),
        RemoveFromBridge(BRIDGE, PEER),
        StartHoldMusic(MAIN),
        StartRinging(PEER),
        Originate(TARGET, CAROL, "+4799", originator=MAIN),
    )
    assert story.take(LegRinging(TARGET), 100) == (Hangup(PEER, NORMAL),)
    assert story.take(LegEnded(PEER, NORMAL), 30) == ()
    assert transfer(story).state == "ringback"


def test_the_source_leaves_when_the_target_answers_without_ringing() -> None:
    story = blind()
    assert story.take(LegAnswered(TARGET), 900) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN, TARGET)),
        Hangup(PEER, NORMAL),
    )
    assert transfer(story).state == "blind_transferred"


def test_the_source_hangs_up_before_the_target_rings() -> None:
    """The customer waits for the target."""
    story = blind()
    story.take(LegEnded(PEER, NORMAL), 30)
    assert media_of(story, MAIN).sound == "music"
    story.take(LegRinging(TARGET), 100)
    story.take(LegAnswered(TARGET), 900)
    assert bridged_legs(story) == {MAIN, TARGET}


@pytest.mark.parametrize("cause", [BUSY, 1, TEMPORARY_FAILURE])
def test_a_target_that_does_not_even_ring(cause: int) -> None:
    """Busy, unassigned or offline: source and customer stay connected."""
    story = blind(action=say())
    story.take(LegEnded(TARGET, cause), 50)
    assert bridged_legs(story) == {MAIN, PEER}
    assert Hangup(PEER, NORMAL) not in story.commands
    assert transfer(story).state == "failed"


def test_the_target_answers() -> None:
    """Customer and target talk: the transfer is done."""
    story = blind("ringback")
    assert story.take(LegAnswered(TARGET), 900) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN, TARGET)),
    )
    assert transfer_events(story) == [
        ("starting", None),
        ("ringback", None),
        ("blind_transferred", None),
    ]
    assert transfer(story).ended_ms == story.now


def test_the_main_leg_is_the_source() -> None:
    """The dialled leg becomes the main leg; the old one does not end the call."""
    story = transferring_from_main("ringback", "blind", action=say())
    assert story.call.main == PEER
    story.take(LegEnded(MAIN, NORMAL), 30)
    story.take(LegAnswered(TARGET), 900)
    assert bridged_legs(story) == {PEER, TARGET}
    story.take(LegEnded(TARGET, NORMAL), 900)
    assert story.state == "playing"


@pytest.mark.parametrize(
    ("cause", "status", "reason"),
    [(BUSY, "busy", "target_busy"), (NO_ANSWER, "no-answer", "target_no_answer")],
)
def test_a_target_that_does_not_answer(cause: int, status: str, reason: str) -> None:
    """The source has left: the tree continues with the reason."""
    story = blind("ringback", HTTPS)
    assert story.take(LegEnded(TARGET, cause))[0] == StopHoldMusic(MAIN)
    dial = json.loads(story.commands_of(SendWebhook)[-1].body)["dial"]
    assert (dial["status"], dial["cause"]) == (status, cause)
    assert transfer_events(story)[-1] == ("failed", reason)


def test_a_target_that_rings_too_long() -> None:
    """It is hung up once at its deadline, and the tree continues."""
    story = blind("ringback", say())
    story.take(LegEnded(PEER, NORMAL))
    commands = story.pass_deadline()
    assert [c for c in commands if isinstance(c, Hangup)] == [Hangup(TARGET, NO_ANSWER)]
    assert story.state == "playing"


def test_a_tree_without_an_action() -> None:
    """Without a further action the customer is hung up, not left with music forever."""
    story = blind("ringback")
    assert Hangup(MAIN, NORMAL) in story.take(LegEnded(TARGET, BUSY))
    assert story.state == "ending"


def test_canceled_before_the_target_rings() -> None:
    """Source and customer stay connected."""
    story = blind()
    assert Hangup(TARGET, NORMAL) in story.take(cancel())
    assert bridged_legs(story) == {MAIN, PEER}


def test_canceled() -> None:
    """The source is gone: the tree continues."""
    story = blind("ringback", HTTPS)
    commands = story.take(cancel())
    assert Hangup(TARGET, NORMAL) in commands
    assert json.loads(story.commands_of(SendWebhook)[-1].body)["dial"]["status"] == "canceled"
    assert transfer_events(story)[-1] == ("canceled", "source_cancel")


def test_complete_changes_nothing() -> None:
    """A blind transfer already goes on without the source."""
    story = blind("ringback")
    before = story.call
    assert story.take(complete()) == ()
    assert story.call is before


@pytest.mark.parametrize("state", WAITING)
def test_the_customer_hangs_up(state: Progress) -> None:
    """The target is hung up."""
    story = blind(state)
    assert Hangup(TARGET, NORMAL) in story.hang_up()
    assert transfer_events(story)[-1] == ("abandoned", "customer_hangup")


def test_the_dial_time_limit() -> None:
    """It was set for the source, who has left: the customer and the target have no limit."""
    story = bridged_call(data={"number": BOB, "timeLimit": 15}, action=say())
    story.take(transfer_to(mode="blind"), 10_000)
    story.take(LegEnded(PEER, NORMAL))
    story.take(LegRinging(TARGET))
    story.take(LegAnswered(TARGET))
    assert deadline_ms(story.call) == story.call.must_end_ms


def test_the_target_hangs_up_later() -> None:
    """The conversation was a dial's: its nested action runs."""
    story = blind("answered", say())
    story.take(LegEnded(TARGET, NORMAL), 9_000)
    assert story.state == "playing"


def test_a_held_customer_is_released() -> None:
    """The source that held it is gone."""
    story = bridged_call(BOB)
    story.take(hold(MAIN))
    assert StartHoldMusic(MAIN) not in story.take(transfer_to(mode="blind"))
    story.take(LegRinging(TARGET))
    assert media_of(story, MAIN) == LegMedia(sound="music")
    assert story.leg(MAIN).held is False
    story.take(LegAnswered(TARGET))
    assert bridged_legs(story) == {MAIN, TARGET}
