"""A completed transfer: by request or by hangup, on whichever leg the tree runs."""

import pytest

from engine.calls.model.call_states import Bridged
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    Hangup,
    RemoveFromBridge,
    ResetConverter,
    StopHoldMusic,
)
from engine.calls.model.events import LegEnded
from engine.calls.model.io_commands import SendWebhook
from tests.harness.calls.builders import CHANNEL, HTTPS, MAIN, bridged_call, say
from tests.harness.calls.call_records import inbound_conversation
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    PEER,
    TARGET,
    bridged_legs,
    complete,
    hold,
    progress,
    transfer,
    transfer_events,
    transfer_to,
    transferring,
    transferring_from_main,
)


def test_the_source_completes() -> None:
    """The customer joins the target; the source is hung up, with an event."""
    story = transferring("answered")
    assert story.take(complete(), 5_000) == (
        StopHoldMusic(MAIN),
        AddToBridge(BRIDGE, (MAIN,)),
        Hangup(PEER, NORMAL),
        ResetConverter(TARGET),  # it stays in the bridge, where it has heard the source
    )
    ended = transfer(story)
    assert (ended.state, ended.reason, ended.ended_by) == ("completed", "manual_complete", "7")
    assert ended.ended_ms == story.now
    assert story.take(LegEnded(PEER, NORMAL), 50) == ()
    assert bridged_legs(story) == {MAIN, TARGET}


def test_the_source_hangs_up_to_complete() -> None:
    """Its hangup has the same effect."""
    story = transferring("answered")
    joining = (StopHoldMusic(MAIN), AddToBridge(BRIDGE, (MAIN,)), ResetConverter(TARGET))
    assert story.take(LegEnded(PEER, NORMAL)) == joining
    assert transfer_events(story)[-1] == ("completed", "source_hangup_intentional")


def test_the_target_hangs_up_later() -> None:
    """The tree continues on the customer's leg, after the dial."""
    story = transferring("answered", action=HTTPS)
    story.take(complete(), 5_000)
    story.take(LegEnded(PEER, NORMAL), 50)
    commands = story.take(LegEnded(TARGET, NORMAL), 8_000)
    assert commands[0] == RemoveFromBridge(BRIDGE, MAIN)
    assert isinstance(commands[-1], SendWebhook)


def test_the_main_leg_is_the_source() -> None:
    """The customer's leg becomes the main leg, and the tree runs on it."""
    story = transferring_from_main("answered", action=say())
    story.take(complete(), 5_000)
    assert story.call.main == PEER
    assert story.take(LegEnded(MAIN, NORMAL), 50) == ()
    assert bridged_legs(story) == {PEER, TARGET}
    story.take(LegEnded(TARGET, NORMAL), 5_000)
    assert story.state == "playing"


def test_a_called_leg_that_became_the_main_leg_completes() -> None:
    """Its events are those of a called leg, to the end."""
    story = transferring_from_main("answered")
    story.take(complete(), 5_000)
    story.take(LegEnded(MAIN, NORMAL), 50)
    story.take(LegEnded(PEER, NORMAL), 5_000)
    [ended] = [e for e in story.emitted if (e.event, e.channel_id) == ("leg-completed", PEER)]
    assert ended.parent_call_id == story.call.id


def test_a_leg_that_an_inbound_caller_dialled_completes() -> None:
    """Also if it became the main leg; the caller's leg has no events of a called one."""
    story = inbound_conversation()
    caller, called = CHANNEL, story.state_as(Bridged).leg
    request = transfer_to(source=caller, customer=called)
    story.take(request, 10_000)
    target = story.call.legs[-1].id
    progress(story, target, "answered")
    story.take(complete(transfer(story).id), 5_000)
    story.take(LegEnded(caller, NORMAL), 50)
    story.take(LegEnded(called, NORMAL), 5_000)
    completed = {
        e.channel_id: e.parent_call_id for e in story.emitted if e.event == "leg-completed"
    }
    assert completed[called] == story.call.id


def test_the_main_leg_hangs_up_to_complete() -> None:
    """The end of the main leg does not end the call if it was the source."""
    story = transferring_from_main("answered")
    story.take(LegEnded(MAIN, NORMAL))
    assert (story.call.main, story.state) == (PEER, "bridged")
    assert story.emitted[-1].event == "leg-completed"


@pytest.mark.parametrize("state", ["starting", "ringback"])
@pytest.mark.parametrize("by_hangup", [True, False])
def test_completed_while_it_rings(state: str, by_hangup: bool) -> None:
    """It becomes blind: the customer waits with music, and talks to the target when it answers."""
    story = transferring("ringback" if state == "ringback" else "starting")
    commands = story.take(LegEnded(PEER, NORMAL) if by_hangup else complete(), 1_000)
    assert commands == (() if by_hangup else (Hangup(PEER, NORMAL),))
    assert (transfer(story).state, transfer(story).mode) == (state, "blind")
    assert story.state_as(Bridged).legs == (TARGET,)
    progress(story, TARGET, "answered")
    assert transfer(story).state == "blind_transferred"
    assert bridged_legs(story) == {MAIN, TARGET}


def test_a_hold_ends_with_the_source() -> None:
    """A leg that the source held is released, with an event: no other party could do it."""
    story = bridged_call(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to())
    progress(story, TARGET, "answered")
    story.take(hold(TARGET))
    story.take(complete())
    assert bridged_legs(story) == {MAIN, TARGET}
    free = [each.channel_id for each in story.emitted if each.event == "leg-unheld"]
    assert free == [MAIN, TARGET]
