"""Attended transfer: the source talks to a target, then leaves the customer with it (design 7)."""

from msgspec.structs import replace

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    Dial,
    Originate,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StopRinging,
)
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, LegRinging
from tests.harness.calls.builders import MAIN, bridged_call
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    CAROL,
    MIX_BRIDGE,
    PEER,
    SESSION,
    TARGET,
    THIRD,
    bridged_legs,
    complete,
    conference_events,
    in_conference,
    media_of,
    progress,
    transfer,
    transfer_events,
    transfer_to,
    transferring,
)


def test_the_target_is_called() -> None:
    """Both leave the bridge: the customer hears music, the source hears ringing."""
    story = bridged_call(BOB)
    assert story.take(transfer_to(), 1_000) == (
        RemoveFromBridge(BRIDGE, MAIN),
        RemoveFromBridge(BRIDGE, PEER),
        StartHoldMusic(MAIN),
        StartRinging(PEER),
        Originate(TARGET, CAROL, "+4799", originator=MAIN),
    )
    assert (transfer(story).id, transfer(story).state) == (SESSION, "starting")


def test_a_withheld_number_is_not_shown_to_the_target() -> None:
    """The caller's wish outlives the first dial."""
    story = bridged_call(BOB)
    story.call = replace(story.call, privacy=True)
    story.take(transfer_to(), 1_000)
    assert story.commands_of(Originate)[-1] == Originate(
        TARGET, CAROL, "+4799", withheld=True, originator=MAIN
    )


def test_events_of_a_transfer() -> None:
    """Session, state, mode, party, the target's channel and the source's agent."""
    events = transferring().emitted
    event = next(each for each in events if each.event == "transfer")
    assert (event.session_id, event.session_state, event.mode) == (SESSION, "starting", "attended")
    assert (event.party, event.channel_id, event.agent_id) == (CAROL, TARGET, "7")
    assert event.reason is None


def test_the_ring_timeout() -> None:
    """The target's ring timeout is the transfer's."""
    story = transferring(ring_s=12)
    assert story.take(LegCreated(TARGET), 300) == (Dial(TARGET, 12),)
    rang = story.now
    story.pass_deadline()
    assert story.now == rang + 12_000
    assert transfer(story).state == "failed"


def test_the_target_rings() -> None:
    """Ringing emits one event; no media changes."""
    story = transferring()
    story.take(LegCreated(TARGET))
    assert story.take(LegRinging(TARGET), 400) == ()
    assert story.take(LegRinging(TARGET), 400) == ()
    assert transfer_events(story) == [("starting", None), ("ringback", None)]


def test_the_target_answers() -> None:
    """Source and target talk; the customer still hears music."""
    story = transferring("ringback")
    assert story.take(LegAnswered(TARGET), 2_000) == (
        StopRinging(PEER),
        AddToBridge(BRIDGE, (PEER, TARGET)),
    )
    assert transfer(story).state == "answered"
    assert media_of(story, MAIN) == LegMedia(sound="music")


def test_an_answer_without_ringing() -> None:
    """Some phones answer at once."""
    story = transferring()
    story.take(LegCreated(TARGET))
    story.take(LegAnswered(TARGET))
    assert transfer(story).state == "answered"


def test_a_repeated_answer() -> None:
    """The second event changes nothing and emits nothing."""
    story = transferring("answered")
    before = story.call
    assert story.take(LegAnswered(TARGET)) == ()
    assert story.call is before


def test_a_conference_of_two_ends_with_it() -> None:
    """It is a conversation of two by then, and the transfer is that of a conversation."""
    story = in_conference()
    story.take(LegEnded(THIRD, NORMAL))
    commands = story.take(transfer_to("+4755555555"))
    assert conference_events(story)[-1] == ("completed", "transfer")
    assert (transfer(story).state, story.call.conference) == ("starting", None)
    assert {RemoveFromBridge(MIX_BRIDGE, MAIN), RemoveFromBridge(MIX_BRIDGE, PEER)} <= set(commands)
    target = transfer(story).target
    progress(story, target, "answered")
    story.take(complete(transfer(story).id))
    assert bridged_legs(story) == {MAIN, target}
