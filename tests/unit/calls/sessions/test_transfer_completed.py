"""A transfer that is completed: by asking or by hanging up, on whichever leg the tree runs."""

import pytest

from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import AddToBridge, Hangup, RemoveFromBridge, StopHoldMusic
from engine.calls.model.events import LegEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.state import Bridged
from tests.unit.calls.harness.builders import HTTPS, MAIN, say, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    PEER,
    TARGET,
    came,
    complete,
    hold,
    sessions_told,
    swapped,
    together,
    transfer,
    transfer_to,
    transferring,
)


def test_the_source_completes() -> None:
    """The customer joins the target; the source is hung up, and told to have left."""
    story = transferring("answered")
    assert story.take(complete(), 5_000) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN,)),
        Hangup(PEER, NORMAL),
    )
    ended = transfer(story)
    assert (ended.state, ended.reason, ended.ended_by) == ("completed", "manual_complete", "7")
    assert ended.ended_ms == story.now
    assert story.take(LegEnded(PEER, NORMAL), 50) == ()
    assert together(story) == {MAIN, TARGET}


def test_the_source_hangs_up_to_complete() -> None:
    """Its hangup says the same."""
    story = transferring("answered")
    assert story.take(LegEnded(PEER, NORMAL)) == (StopHoldMusic(MAIN), AddToBridge(BRIDGE, (MAIN,)))
    assert sessions_told(story)[-1] == ("completed", "source_hangup_intentional")


def test_the_target_hangs_up_after_all() -> None:
    """The tree goes on with the customer, after the dial."""
    story = transferring("answered", action=HTTPS)
    story.take(complete(), 5_000)
    story.take(LegEnded(PEER, NORMAL), 50)
    commands = story.take(LegEnded(TARGET, NORMAL), 8_000)
    assert commands[0] == RemoveFromBridge(BRIDGE, MAIN)
    assert isinstance(commands[-1], SendWebhook)


def test_the_main_leg_hands_its_party_over() -> None:
    """The source was the main leg: now the customer's is, and the tree runs on it."""
    story = swapped("answered", action=say())
    story.take(complete(), 5_000)
    assert story.call.main == PEER
    assert story.take(LegEnded(MAIN, NORMAL), 50) == ()
    assert together(story) == {PEER, TARGET}
    story.take(LegEnded(TARGET, NORMAL), 5_000)
    assert story.state == "playing"


def test_the_main_leg_hangs_up_to_hand_over() -> None:
    """The main leg's end is not the call's when it was a transfer's source."""
    story = swapped("answered")
    story.take(LegEnded(MAIN, NORMAL))
    assert (story.call.main, story.state) == (PEER, "bridged")
    assert story.told[-1].event == "leg-completed"


@pytest.mark.parametrize("state", ["starting", "ringback"])
@pytest.mark.parametrize("by_hangup", [True, False])
def test_completed_while_it_rings(state: str, by_hangup: bool) -> None:
    """It becomes a blind one: the customer waits with music, and talks to who answers."""
    story = transferring("ringback" if state == "ringback" else "starting")
    commands = story.take(LegEnded(PEER, NORMAL) if by_hangup else complete(), 1_000)
    assert commands == (() if by_hangup else (Hangup(PEER, NORMAL),))
    assert (transfer(story).state, transfer(story).mode) == (state, "blind")
    assert story.state_as(Bridged).legs == (TARGET,)
    came(story, TARGET, "answered")
    assert transfer(story).state == "blind_transferred"
    assert together(story) == {MAIN, TARGET}


def test_a_hold_ends_with_what_it_was_for() -> None:
    """Who was held when the source goes is free, and told so: nobody else could do it."""
    story = talking(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to())
    came(story, TARGET, "answered")
    story.take(hold(TARGET))
    story.take(complete())
    assert together(story) == {MAIN, TARGET}
    free = [each.channel_id for each in story.told if each.event == "leg-unheld"]
    assert free == [MAIN, TARGET]
