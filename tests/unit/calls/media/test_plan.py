"""Seats: who is where and hears what, and in which order the PBX is asked for the difference."""

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
from engine.calls.model.state import Ended, Ending
from tests.unit.calls.harness.builders import (
    CLIPS,
    ID,
    MAIN,
    Story,
    called,
    dialing,
    outbound,
    say,
    talking,
)
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    PEER,
    SNOOP,
    TARGET,
    THIRD,
    TUNE,
    coach,
    complete,
    conferring,
    hold,
    inviting,
    swapped,
    transferring,
)

INSIDE = LegMedia(BRIDGE)
MUSIC = LegMedia(sound="music")
RINGING = LegMedia(sound="ringing")
SEATS: list[tuple[Callable[[], Story], dict[str, LegMedia]]] = [
    (lambda: Story(outbound(say())), {}),
    (lambda: called(say()), {MAIN: UNBRIDGED}),
    (lambda: dialing(BOB), {MAIN: RINGING}),
    (lambda: dialing(BOB, moh={"enable": True}), {MAIN: MUSIC}),
    (lambda: talking(BOB), {MAIN: INSIDE, PEER: INSIDE}),
    (transferring, {MAIN: MUSIC, PEER: RINGING}),
    (lambda: transferring("answered"), {MAIN: MUSIC, PEER: INSIDE, TARGET: INSIDE}),
    (lambda: swapped("ringback"), {MAIN: RINGING, PEER: MUSIC}),
    (lambda: transferring("ringback", mode="blind"), {MAIN: MUSIC}),
    (lambda: transferring("answered", mode="blind"), {MAIN: INSIDE, TARGET: INSIDE}),
    (inviting, {MAIN: INSIDE, PEER: INSIDE}),
    (conferring, {MAIN: INSIDE, PEER: INSIDE, THIRD: INSIDE}),
    (lambda: called({"type": "hangup"}), {}),
]


@pytest.mark.parametrize(("make", "expected"), SEATS)
def test_everybody_has_a_place(make: Callable[[], Story], expected: dict[str, LegMedia]) -> None:
    """In every state, read off the call alone."""
    assert desired_media(make().call) == expected


def test_a_coach_sits_apart() -> None:
    """With its snoop, in a bridge of their own that the call needs."""
    story = conferring()
    story.take(coach(THIRD, PEER))
    story.take(LegCreated(SNOOP))
    room = coach_bridge(SNOOP)
    expected = {MAIN: INSIDE, PEER: INSIDE, THIRD: LegMedia(room), SNOOP: LegMedia(room)}
    assert desired_media(story.call) == expected
    assert required_bridges(story.call) == {BRIDGE, room}


@pytest.mark.parametrize("doing", [Ending(0), Ended()])
def test_who_is_being_hung_up_has_none(doing: Ending | Ended) -> None:
    """Nobody is moved on the way out; the bridge is taken down."""
    call = talking(BOB).call
    assert diff_media(call, replace(call, state=doing)) == (DestroyBridge(BRIDGE),)


def test_what_changes_nothing_moves_nobody() -> None:
    """A step that leaves everybody in place asks for nothing."""
    call = talking(BOB).call
    assert diff_media(call, call) == ()
    assert diff_media(call, replace(call, legs=tuple(call.legs))) == ()


def kinds(commands: tuple[Command, ...]) -> list[type]:
    """Name what is asked for, in order."""
    return [type(each) for each in commands]


def test_the_order_into_a_conversation() -> None:
    """Sounds end, mutes change, then all join at once."""
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
    """Each leaves before it hears anything; the bridge goes last."""
    together, apart = talking(BOB).call, transferring().call
    assert kinds(diff_media(together, apart)) == [
        RemoveFromBridge,
        RemoveFromBridge,
        StartHoldMusic,
        StartRinging,
    ]
    alone = dialing(BOB).call
    assert kinds(diff_media(together, alone)) == [RemoveFromBridge, StartRinging, DestroyBridge]


def test_back_together() -> None:
    """What each heard ends, then they join in one request."""
    together, apart = talking(BOB).call, transferring().call
    assert diff_media(apart, together) == (
        StopHoldMusic(MAIN),
        StopRinging(PEER),
        AddToBridge(BRIDGE, (MAIN, PEER)),
    )


def test_from_bridge_to_bridge() -> None:
    """A leg goes by itself: it need not leave the one before."""
    story = conferring()
    story.take(coach(THIRD, PEER))
    assert RemoveFromBridge not in kinds(story.take(LegCreated(SNOOP)))


def test_a_prompt_is_stopped_before_anything_else() -> None:
    """A move would wait behind it."""
    story = called(say())
    story.fetched()
    assert kinds(story.take(hold(MAIN))) == [StopPlayback, StartHoldMusic]


def test_a_tune_is_begun_last() -> None:
    """After its leg has left the bridge, and the usual music has ended."""
    story = transferring("answered", music=TUNE)
    story.take(MediaFetched(f"{ID}.p5", CLIPS))
    heard = desired_media(story.call)[MAIN].sound
    together = talking(BOB).call
    commands = diff_media(together, story.call)
    assert kinds(commands) == [RemoveFromBridge, AddToBridge, Play]
    assert diff_media(story.call, together)[0] == StopPlayback(getattr(heard, "playback", ""))


def test_a_leg_that_ends_is_not_moved() -> None:
    """Nothing is asked of who is gone."""
    story = talking(BOB)
    commands = story.take(LegEnded(PEER, 16))
    assert all(getattr(each, "leg", MAIN) == MAIN for each in commands)


@pytest.mark.parametrize(
    ("seen", "asked"),
    [
        ((), (AddToBridge(BRIDGE, (PEER, TARGET)),)),
        (((PEER, BRIDGE), (TARGET, BRIDGE)), ()),
        (((PEER, BRIDGE),), (AddToBridge(BRIDGE, (TARGET,)),)),
        (((MAIN, BRIDGE), (PEER, BRIDGE), (TARGET, BRIDGE)), (RemoveFromBridge(BRIDGE, MAIN),)),
        (((MAIN, BRIDGE),), (RemoveFromBridge(BRIDGE, MAIN), AddToBridge(BRIDGE, (PEER, TARGET)))),
        (((PEER, "other"), (TARGET, BRIDGE)), (AddToBridge(BRIDGE, (PEER,)),)),
    ],
)
def test_brought_back(seen: tuple[tuple[str, str], ...], asked: tuple[Command, ...]) -> None:
    """Whoever was seen elsewhere goes to its place; nobody else is touched."""
    assert restore_media(transferring("answered").call, seen) == asked
