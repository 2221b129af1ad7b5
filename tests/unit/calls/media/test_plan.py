"""The media plan and its differences: each leg's bridge, sound and mute, and the command order."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from engine.calls.media.diff import diff_media, restore_media
from engine.calls.media.plan import (
    UNBRIDGED,
    LegMedia,
    coach_bridge,
    desired_media,
    required_bridges,
)
from engine.calls.model.call_states import Ended, Ending
from engine.calls.model.commands import (
    AddToBridge,
    Command,
    DestroyBridge,
    Mute,
    Play,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StopHoldMusic,
    StopPlayback,
    StopRinging,
    Unmute,
)
from engine.calls.model.events import LegCreated, LegEnded
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import MuteRequested
from tests.harness.calls.builders import (
    CLIPS,
    ID,
    MAIN,
    Story,
    answered_call,
    bridged_call,
    dialing_call,
    outbound,
    say,
)
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    MIX_BRIDGE,
    MUSIC_URL,
    PEER,
    SNOOP,
    TARGET,
    THIRD,
    coach,
    complete,
    hold,
    in_conference,
    inviting,
    transferring,
    transferring_from_main,
)

INSIDE = LegMedia(BRIDGE)
MIX = LegMedia(MIX_BRIDGE)
MUSIC = LegMedia(sound="music")
RINGING = LegMedia(sound="ringing")
DESIRED_MEDIA: list[tuple[Callable[[], Story], dict[str, LegMedia]]] = [
    (lambda: Story(outbound(say())), {}),
    (lambda: answered_call(say()), {MAIN: UNBRIDGED}),
    (lambda: dialing_call(BOB), {MAIN: RINGING}),
    (lambda: dialing_call(BOB, moh={"enable": True}), {MAIN: MUSIC}),
    (lambda: bridged_call(BOB), {MAIN: INSIDE, PEER: INSIDE}),
    (transferring, {MAIN: MUSIC, PEER: RINGING}),
    (lambda: transferring("answered"), {MAIN: MUSIC, PEER: INSIDE, TARGET: INSIDE}),
    (lambda: transferring_from_main("ringback"), {MAIN: RINGING, PEER: MUSIC}),
    (lambda: transferring("ringback", mode="blind"), {MAIN: MUSIC}),
    (lambda: transferring("answered", mode="blind"), {MAIN: INSIDE, TARGET: INSIDE}),
    (inviting, {MAIN: INSIDE, PEER: INSIDE}),
    (in_conference, {MAIN: MIX, PEER: MIX, THIRD: MIX}),
    (lambda: answered_call({"type": "hangup"}), {}),
]


@pytest.mark.parametrize(("make", "expected"), DESIRED_MEDIA)
def test_desired_media(make: Callable[[], Story], expected: dict[str, LegMedia]) -> None:
    """In every state, derived from the call alone."""
    assert desired_media(make().call) == expected


def test_media_of_a_coach() -> None:
    """With its snoop, in a separate bridge that the call requires."""
    story = in_conference()
    story.take(coach(THIRD, PEER))
    assert RemoveFromBridge not in kinds(story.take(LegCreated(SNOOP)))  # joining moves the leg
    room = coach_bridge(SNOOP)
    expected = {MAIN: MIX, PEER: MIX, THIRD: LegMedia(room), SNOOP: LegMedia(room)}
    assert desired_media(story.call) == expected
    assert required_bridges(story.call) == {MIX_BRIDGE, room}


@pytest.mark.parametrize("state", [Ending(0), Ended()])
def test_no_media_while_ending(state: Ending | Ended) -> None:
    """No leg is moved at the end; the bridge is destroyed."""
    call = bridged_call(BOB).call
    assert diff_media(call, replace(call, state=state)) == (DestroyBridge(BRIDGE),)


def test_no_commands_without_changes() -> None:
    """A step without media changes has no commands."""
    call = bridged_call(BOB).call
    assert diff_media(call, call) == ()
    assert diff_media(call, replace(call, legs=tuple(call.legs))) == ()


def kinds(commands: tuple[Command, ...]) -> list[type]:
    """Return the types of the commands, in order."""
    return [type(each) for each in commands]


def test_the_order_into_a_conversation() -> None:
    """Sounds end, mutes change, then all legs join at once."""
    before = transferring("answered")
    before.take(MuteRequested(TARGET, "in"))
    after = Story(before.call, before.now)
    after.take(complete())
    after.take(MuteRequested(TARGET, "out"))
    after.take(MuteRequested(MAIN, "in"))
    assert diff_media(before.call, after.call) == (
        StopHoldMusic(MAIN),
        Mute(MAIN, "in"),
        Unmute(TARGET, "in"),
        Mute(TARGET, "out"),
        AddToBridge(BRIDGE, (MAIN,)),
    )


def test_the_order_out_of_a_conversation() -> None:
    """Each leg leaves before its sound starts; the bridge is destroyed last."""
    together, apart = bridged_call(BOB).call, transferring().call
    assert kinds(diff_media(together, apart)) == [
        RemoveFromBridge,
        RemoveFromBridge,
        StartHoldMusic,
        StartRinging,
    ]
    alone = dialing_call(BOB).call
    assert kinds(diff_media(together, alone)) == [RemoveFromBridge, StartRinging, DestroyBridge]


def test_back_in_one_bridge() -> None:
    """Their sounds end, then they join with one command."""
    together, apart = bridged_call(BOB).call, transferring().call
    assert diff_media(apart, together) == (
        StopHoldMusic(MAIN),
        StopRinging(PEER),
        AddToBridge(BRIDGE, (MAIN, PEER)),
    )


def test_a_prompt_is_stopped_first() -> None:
    """A bridge command would wait for its end."""
    story = answered_call(say())
    story.deliver_media()
    assert kinds(story.take(hold(MAIN))) == [StopPlayback, StartHoldMusic]


def test_custom_music_starts_last() -> None:
    """After its leg has left the bridge, and the default music has ended."""
    story = transferring("answered", music=MUSIC_URL)
    story.take(MediaFetched(f"{ID}.p5", CLIPS))
    sound = desired_media(story.call)[MAIN].sound
    together = bridged_call(BOB).call
    commands = diff_media(together, story.call)
    assert kinds(commands) == [RemoveFromBridge, AddToBridge, Play]
    assert diff_media(story.call, together)[0] == StopPlayback(getattr(sound, "playback", ""))


def test_a_leg_that_ends_is_not_moved() -> None:
    """There are no commands for a leg that has ended."""
    story = bridged_call(BOB)
    commands = story.take(LegEnded(PEER, 16))
    assert all(getattr(each, "leg", MAIN) == MAIN for each in commands)


@pytest.mark.parametrize(
    ("bridged", "expected"),
    [
        ((), (AddToBridge(BRIDGE, (PEER, TARGET)),)),
        (((PEER, BRIDGE), (TARGET, BRIDGE)), ()),
        (((PEER, BRIDGE),), (AddToBridge(BRIDGE, (TARGET,)),)),
        (((MAIN, BRIDGE), (PEER, BRIDGE), (TARGET, BRIDGE)), (RemoveFromBridge(BRIDGE, MAIN),)),
        (((MAIN, BRIDGE),), (RemoveFromBridge(BRIDGE, MAIN), AddToBridge(BRIDGE, (PEER, TARGET)))),
        (((PEER, "other"), (TARGET, BRIDGE)), (AddToBridge(BRIDGE, (PEER,)),)),
    ],
)
def test_restored_media(
    bridged: tuple[tuple[str, str], ...], expected: tuple[Command, ...]
) -> None:
    """A leg in another bridge is moved to its own; no other leg is touched."""
    assert restore_media(transferring("answered").call, bridged) == expected


def test_a_bridge_is_destroyed_although_no_media_changes() -> None:
    """Both parties ended while no engine listened: their bridge is destroyed with the call."""
    before = replace(bridged_call(BOB).call, legs=())
    after = replace(before, state=Ending(0))
    assert desired_media(before) == desired_media(after) == {}
    assert diff_media(before, after) == (DestroyBridge(BRIDGE),)
