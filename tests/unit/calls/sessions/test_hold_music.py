"""Music of one's own for who waits: fetched, then heard round and round; else the usual music."""

import pytest

from engine.calls.media.plan import LegMedia
from engine.calls.model.causes import BUSY, NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    Play,
    StartHoldMusic,
    StopHoldMusic,
    StopPlayback,
)
from engine.calls.model.events import Event, LegAnswered, LegEnded, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.sessions.hold_music import MAX_CLIPS
from tests.unit.calls.harness.builders import ID, MAIN, Story, talking
from tests.unit.calls.harness.control import (
    BOB,
    BRIDGE,
    PEER,
    TARGET,
    THIRD,
    TUNE,
    hold,
    inviting,
    seat,
    transfer,
    transfer_to,
    transferring,
    unhold,
)
from wire.media import Audio, Clip

CLIP = Clip("e" * 32, 30_000)
WISH = f"{ID}.p5"
ROUND = f"{ID}.p6"
NEXT = f"{ID}.p7"


def tuned() -> Story:
    """Make a call whose customer hears a tune while the target rings."""
    story = transferring("ringback", music=TUNE)
    story.take(MediaFetched(WISH, (CLIP,)), 800)
    return story


def test_it_is_fetched() -> None:
    """Till it is there the usual music is heard."""
    story = talking(BOB)
    commands = story.take(transfer_to(music=TUNE))
    assert commands[-1] == FetchMedia(WISH, (Audio(TUNE),))
    assert StartHoldMusic(MAIN) in commands


def test_it_takes_the_place_of_the_usual_music() -> None:
    """Many rounds are asked for at once: a short one comes round without a pause."""
    story = transferring("ringback", music=TUNE)
    assert story.take(MediaFetched(WISH, (CLIP,)), 800) == (
        StopHoldMusic(MAIN),
        Play(MAIN, ROUND, (CLIP,) * MAX_CLIPS),
    )


def test_round_and_round() -> None:
    """When the last round is over it begins anew."""
    story = tuned()
    assert Play(MAIN, NEXT, (CLIP,) * MAX_CLIPS) in story.take(PlaybackEnded(ROUND), 600_000)
    assert story.take(PlaybackEnded(ROUND)) == ()
    assert story.take(PlaybackEnded(NEXT))[-1] == Play(MAIN, f"{ID}.p8", (CLIP,) * MAX_CLIPS)


def test_it_cannot_be_had() -> None:
    """The usual music goes on."""
    story = transferring("ringback", music=TUNE)
    assert story.take(MediaFetched(WISH, (), ("status 404",))) == ()
    assert seat(story, MAIN) == LegMedia(sound="music")


def test_it_cannot_be_played() -> None:
    """Nobody is left in silence: the usual music is heard instead."""
    story = tuned()
    assert story.take(PlaybackEnded(ROUND, failed=True))[-1] == StartHoldMusic(MAIN)
    assert seat(story, MAIN) == LegMedia(sound="music")


@pytest.mark.parametrize("end", [LegEnded(TARGET, BUSY), LegEnded(PEER, NORMAL)])
def test_it_ends_with_the_waiting(end: Event) -> None:
    """It is stopped before the customer joins the other."""
    story = tuned()
    commands = story.take(end)
    if end == LegEnded(PEER, NORMAL):
        assert commands == ()
        commands = story.take(LegAnswered(TARGET))
    assert commands[0] == StopPlayback(ROUND)
    assert isinstance(commands[-1], AddToBridge)


def test_what_comes_too_late_is_not_heard() -> None:
    """The tune is there when nobody waits any more."""
    story = transferring("ringback", music=TUNE)
    story.take(LegEnded(TARGET, BUSY))
    assert story.take(MediaFetched(WISH, (CLIP,))) == ()
    assert transfer(story).state == "failed"


def test_a_hold_does_not_change_it() -> None:
    """Who waits on hold hears the same."""
    story = tuned()
    assert story.take(hold(MAIN)) == ()
    assert story.take(unhold(MAIN)) == ()


def test_a_held_customer_hears_it() -> None:
    """Held before the transfer, as agents do, it hears the transfer's music."""
    story = talking(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to(music=TUNE))
    assert story.take(MediaFetched(WISH, (CLIP,)))[0] == StopHoldMusic(MAIN)


def test_who_waits_alone_in_a_conference() -> None:
    """It hears the conference's, from the moment it is alone."""
    story = inviting(music=TUNE)
    request = story.wanted(FetchMedia)[-1].request
    assert story.take(MediaFetched(request, (CLIP,))) == ()
    commands = story.take(LegEnded(PEER, NORMAL))
    play = commands[-1]
    assert isinstance(play, Play)
    third = story.call.legs[-1].id
    assert story.take(LegAnswered(third))[:2] == (
        StopPlayback(play.playback),
        AddToBridge(BRIDGE, (MAIN, third)),
    )
    assert third != THIRD
