"""Events that a controlled call missed in an outage have the same effect later."""

from typing import Any

import pytest

from engine.calls.media.awaited_playbacks import awaited_playbacks
from engine.calls.media.plan import desired_media
from engine.calls.model.causes import LOST
from engine.calls.model.commands import AddToBridge, Play, StartHoldMusic
from engine.calls.model.events import LegAnswered, LegEnded, PlaybackEnded, Recovered
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.builders import MAIN, Story, bridged_call
from tests.harness.calls.control import (
    BOB,
    MIX_BRIDGE,
    PEER,
    SNOOP,
    TARGET,
    THIRD,
    bridged_legs,
    cancel,
    coach,
    coaching,
    dial_into,
    in_conference,
    take_all,
    transfer,
    transferring,
    transferring_from_main,
    transferring_with_music,
)


def snapshot(story: Story, *missing: str, **fields: Any) -> PbxSnapshot:
    """Return the expected state of the PBX, without some channels."""
    channels = {leg.id: "Up" if leg.state == "up" else "Ringing" for leg in story.call.legs}
    for leg in missing:
        channels.pop(leg, None)
    return PbxSnapshot(channels, **fields)


def recovered(story: Story, pbx: PbxSnapshot) -> Story:
    """Recover the call."""
    _, events = reconcile(story.call, (), pbx, story.now)
    return take_all(story, *events)


@pytest.mark.parametrize(
    ("story", "missing", "left", "ended"),
    [
        (transferring("answered"), PEER, {MAIN, TARGET}, "completed"),
        (transferring("answered"), TARGET, {MAIN, PEER}, "failed"),
        (transferring("ringback"), TARGET, {MAIN, PEER}, "failed"),
        (transferring_from_main("answered"), MAIN, {PEER, TARGET}, "completed"),
    ],
)
def test_a_hangup_in_the_outage(story: Story, missing: str, left: set[str], ended: str) -> None:
    """It takes effect now."""
    recovered(story, snapshot(story, missing))
    assert (bridged_legs(story), transfer(story).state) == (left, ended)


def test_a_music_loop_that_ended_in_the_outage() -> None:
    """The next one starts."""
    story = transferring_with_music()
    (playback,) = awaited_playbacks(story.call)
    _, events = reconcile(story.call, (), snapshot(story), story.now)
    assert PlaybackEnded(playback) in events
    recovered(story, snapshot(story))
    assert story.commands_of(Play)[-1].playback != playback


def test_a_music_loop_that_continues() -> None:
    """It is neither stopped nor started again."""
    story = transferring_with_music()
    (playback,) = awaited_playbacks(story.call)
    pbx = snapshot(story, playbacks=frozenset({playback}))
    play = story.commands_of(Play)[-1]
    redo, events = reconcile(story.call, (play,), pbx, story.now)
    assert (redo, events) == ((), (Recovered(),))
    assert reconcile(story.call, (play,), snapshot(story), story.now)[0] == (play,)


def test_snoops_come_and_go_in_the_outage() -> None:
    """One that exists is used; the loss of one mutes its coach."""
    story = in_conference()
    story.take(coach(THIRD, PEER))
    pbx = snapshot(story)
    pbx.channels[SNOOP] = "Up"
    recovered(story, pbx)
    assert desired_media(story.call)[THIRD].bridge == f"{SNOOP}b"
    assert LegEnded(SNOOP, LOST) in reconcile(story.call, (), snapshot(story), story.now)[1]
    recovered(story, snapshot(story))
    assert desired_media(story.call)[THIRD].muted == "in"


def test_a_snoop_in_its_bridge_is_left_there() -> None:
    """A leg in the right bridge gets no command."""
    story = coaching()
    pbx = snapshot(story, bridges={f"{SNOOP}b": (THIRD, SNOOP), MIX_BRIDGE: (MAIN, PEER)})
    pbx.channels[SNOOP] = "Up"
    before = len(story.commands_of(AddToBridge))
    recovered(story, pbx)
    assert len(story.commands_of(AddToBridge)) == before


def test_an_invited_leg_answered_in_the_outage() -> None:
    """It is admitted."""
    story = bridged_call(BOB)
    leg = dial_into(story, state="ringback")
    pbx = snapshot(story)
    pbx.channels[leg] = "Up"
    assert LegAnswered(leg) in reconcile(story.call, (), pbx, story.now)[1]
    recovered(story, pbx)
    assert bridged_legs(story) == {MAIN, PEER, leg}


def test_music_that_was_not_started() -> None:
    """It starts for legs that still wait, and for no others."""
    story = transferring("ringback")
    assert reconcile(story.call, (StartHoldMusic(MAIN),), snapshot(story), 0)[0] == (
        StartHoldMusic(MAIN),
    )
    story.take(cancel())
    assert reconcile(story.call, (StartHoldMusic(MAIN),), snapshot(story), 0)[0] == ()
