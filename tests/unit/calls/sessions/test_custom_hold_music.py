"""Custom music on hold: fetched, then looped; else the default music plays."""

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
from engine.calls.model.events import (
    Event,
    LegAnswered,
    LegEnded,
    LegHeldByPhone,
    LegResumedByPhone,
    PlaybackEnded,
)
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.media_faults import take_fault
from engine.calls.verbs.suspendable_playback import MAX_CLIPS
from tests.harness.calls.builders import ID, MAIN, Story, bridged_call
from tests.harness.calls.control import (
    BOB,
    BRIDGE,
    MUSIC_URL,
    PEER,
    TARGET,
    THIRD,
    hold,
    inviting,
    media_of,
    transfer,
    transfer_to,
    transferring,
    unhold,
)
from wire.media import Audio, Clip, MediaFault

CLIP = Clip("e" * 32, 30_000)
FETCH_ID = f"{ID}.p5"
LOOP = f"{ID}.p6"
NEXT_LOOP = f"{ID}.p7"


def with_custom_music() -> Story:
    """Return a call whose customer hears custom music while the target rings."""
    story = transferring("ringback", music=MUSIC_URL)
    story.take(MediaFetched(FETCH_ID, (CLIP,)), 800)
    return story


def test_it_replaces_the_default_music() -> None:
    """Once it is there; one playback has many loops: a short file repeats without a pause."""
    story = bridged_call(BOB)
    commands = story.take(transfer_to(music=MUSIC_URL))
    assert commands[-1] == FetchMedia(FETCH_ID, (Audio(MUSIC_URL),))
    assert StartHoldMusic(MAIN) in commands
    assert story.take(MediaFetched(FETCH_ID, (CLIP,)), 800) == (
        StopHoldMusic(MAIN),
        Play(MAIN, LOOP, (CLIP,) * MAX_CLIPS),
    )


def test_it_loops() -> None:
    """When the last loop has ended, another playback starts."""
    story = with_custom_music()
    assert Play(MAIN, NEXT_LOOP, (CLIP,) * MAX_CLIPS) in story.take(PlaybackEnded(LOOP), 600_000)
    assert story.take(PlaybackEnded(LOOP)) == ()
    assert story.take(PlaybackEnded(NEXT_LOOP))[-1] == Play(MAIN, f"{ID}.p8", (CLIP,) * MAX_CLIPS)


@pytest.mark.parametrize(
    "story", [transferring("ringback", music=MUSIC_URL), inviting(music=MUSIC_URL)]
)
def test_it_cannot_be_fetched(story: Story) -> None:
    """It is reported; the default music goes on."""
    before, request = media_of(story, MAIN), story.commands_of(FetchMedia)[-1].request
    fault = MediaFault(MUSIC_URL, "not_found")
    assert story.take(MediaFetched(request, (), ("status 404",), (fault,))) == ()
    event = story.emitted[-1]
    assert (event.event, event.source, event.reason) == ("media-failed", MUSIC_URL, "not_found")
    assert media_of(story, MAIN) == before
    assert take_fault(story.call)[1] is None


def test_it_cannot_be_played() -> None:
    """The default music plays instead of silence."""
    story = with_custom_music()
    assert story.take(PlaybackEnded(LOOP, failed=True))[-1] == StartHoldMusic(MAIN)
    assert media_of(story, MAIN) == LegMedia(sound="music")


@pytest.mark.parametrize("end", [LegEnded(TARGET, BUSY), LegEnded(PEER, NORMAL)])
def test_it_ends_with_the_waiting(end: Event) -> None:
    """It is stopped before the customer joins the other party."""
    story = with_custom_music()
    commands = story.take(end)
    if end == LegEnded(PEER, NORMAL):
        assert commands == ()
        commands = story.take(LegAnswered(TARGET))
    assert commands[0] == StopPlayback(LOOP)
    assert isinstance(commands[-1], AddToBridge)


def test_it_arrives_too_late() -> None:
    """Music that arrives when no leg waits is not played."""
    story = transferring("ringback", music=MUSIC_URL)
    story.take(LegEnded(TARGET, BUSY))
    assert story.take(MediaFetched(FETCH_ID, (CLIP,))) == ()
    assert transfer(story).state == "failed"


def test_a_hold_does_not_change_it() -> None:
    """A leg on hold hears the same music."""
    story = with_custom_music()
    assert story.take(hold(MAIN)) == ()
    assert story.take(unhold(MAIN)) == ()


def test_a_held_customer_hears_it() -> None:
    """Put on hold before the transfer, it hears the transfer's music."""
    story = bridged_call(BOB)
    story.take(hold(MAIN))
    story.take(transfer_to(music=MUSIC_URL))
    assert story.take(MediaFetched(FETCH_ID, (CLIP,)))[0] == StopHoldMusic(MAIN)


def test_a_lone_conference_member_hears_it() -> None:
    """It hears the conference's music as soon as it is alone."""
    story = inviting(music=MUSIC_URL)
    request = story.commands_of(FetchMedia)[-1].request
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


@pytest.mark.parametrize("next_waiting", [MAIN, PEER])
def test_it_is_heard_again_before_its_stop_is_reported(next_waiting: str) -> None:
    """It gets another playback: the PBX plays each once, and the late report ends none."""
    story = inviting(music=MUSIC_URL)
    story.take(MediaFetched(story.commands_of(FetchMedia)[-1].request, (CLIP,)))
    third = story.call.legs[-1].id
    story.take(LegAnswered(third))
    story.take(LegHeldByPhone(third))
    story.take(LegHeldByPhone(PEER))
    story.take(LegResumedByPhone(PEER))
    story.take(LegHeldByPhone(PEER if next_waiting == MAIN else MAIN))
    plays = story.commands_of(Play)
    assert [each.leg for each in plays[-2:]] == [MAIN, next_waiting]
    assert plays[-1].playback != plays[-2].playback
    assert story.take(PlaybackEnded(plays[-2].playback)) == ()
