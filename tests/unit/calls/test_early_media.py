"""`earlyMedia` of a dial: the caller hears the called party's network before its answer."""

from typing import Any

from engine.calls.model.call_states import Bridged, Dialing
from engine.calls.model.causes import BUSY, NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Dial,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
)
from engine.calls.model.events import (
    BridgeFailed,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
)
from engine.calls.model.requests import DialRequested
from tests.harness.calls.builders import (
    MAIN,
    Story,
    dialing_call,
    say,
)
from tests.harness.calls.dials import BOB, EVE, FIRST


def early_call(**more: Any) -> Story:
    """Return a call that dials Bob with early media."""
    data = {"number": BOB, "earlyMedia": True, **more.pop("data", {})}
    return dialing_call(data=data, **more)


def bridge_of(story: Story) -> str:
    return story.state_as(Dialing).bridge


def test_the_legs_are_bridged_before_the_called_one_is_dialled() -> None:
    """There is no ringing of ours. At the answer they move: packet numbers may restart."""
    story = early_call()
    assert story.commands_of(StartRinging) == []
    bridge = bridge_of(story)
    assert story.take(LegCreated(FIRST)) == (AddToBridge(bridge, (MAIN, FIRST)), Dial(FIRST, 60))
    assert story.take(LegRinging(FIRST)) == ()
    commands = story.take(LegAnswered(FIRST))
    moved = story.state_as(Bridged).bridge
    assert commands == (AddToBridge(moved, (MAIN, FIRST)), DestroyBridge(bridge))
    assert story.take(LegEnded(FIRST, NORMAL))[0] == DestroyBridge(moved)


def test_a_failure_releases_the_caller() -> None:
    """The next verb runs outside of the bridge."""
    story = early_call(action=say())
    bridge = bridge_of(story)
    story.take(LegCreated(FIRST))
    commands = story.take(LegEnded(FIRST, BUSY))
    assert commands[:2] == (RemoveFromBridge(bridge, MAIN), DestroyBridge(bridge))
    assert story.state == "playing"


def test_a_screened_party_leaves_the_bridge() -> None:
    """The caller does not hear the whisper, and hears ringing meanwhile."""
    story = early_call(data={"whisper": say()})
    bridge = bridge_of(story)
    story.take(LegCreated(FIRST))
    commands = story.take(LegAnswered(FIRST))
    assert set(commands[:4]) == {
        RemoveFromBridge(bridge, MAIN),
        RemoveFromBridge(bridge, FIRST),
        StartRinging(MAIN),
        DestroyBridge(bridge),
    }


def test_a_second_party_ends_early_media() -> None:
    """Several parties would be heard at once: the caller hears ringing."""
    story = early_call()
    bridge = bridge_of(story)
    story.take(LegCreated(FIRST))
    commands = story.take(DialRequested(EVE, 20))
    assert commands[:3] == (
        RemoveFromBridge(bridge, MAIN),
        StartRinging(MAIN),
        DestroyBridge(bridge),
    )


def test_several_parties_and_music_have_no_early_media() -> None:
    """They are heard as without the setting."""
    several = dialing_call(data={"number": [BOB, EVE], "earlyMedia": True})
    assert (bridge_of(several), several.commands_of(StartRinging)) == ("", [StartRinging(MAIN)])
    music = early_call(moh={"enable": True})
    assert (bridge_of(music), music.commands_of(StartHoldMusic)) == ("", [StartHoldMusic(MAIN)])


def test_a_failed_bridge_gives_ringing() -> None:
    """The party may still answer, and is then bridged as usual."""
    story = early_call()
    bridge = bridge_of(story)
    story.take(LegCreated(FIRST))
    assert story.take(BridgeFailed(bridge, "404", (MAIN, "an earlier leg"))) == ()
    assert StartRinging(MAIN) in story.take(BridgeFailed(bridge, "500", (MAIN, FIRST)))
    story.take(LegAnswered(FIRST))
    connected = story.state_as(Bridged).bridge
    assert connected != bridge
    assert story.commands_of(AddToBridge)[-1] == AddToBridge(connected, (MAIN, FIRST))
