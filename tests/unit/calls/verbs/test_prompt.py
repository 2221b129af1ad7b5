"""A prompt whose leg is put on hold: stopped, and played on from where it was."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.calls.model.commands import Play, StartHoldMusic, StopHoldMusic, StopPlayback
from engine.calls.model.events import Event, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import AwaitingInstructions, Playing
from engine.calls.verbs.play import FETCH_TIMEOUT_MS, GRACE_MS
from tests.unit.calls.harness.builders import (
    CLIPS,
    HTTPS,
    ID,
    LONGEST_MS,
    MAIN,
    NOW,
    Story,
    answered_call,
    say,
)
from tests.unit.calls.harness.control import hold, unhold
from wire.media import Clip

FIRST, SECOND = CLIPS  # 3 s and 1 s


def playing(**more: Any) -> Story:
    """Make a call that plays two clips, of 4 s together."""
    story = answered_call(say(**more))
    story.deliver_media()
    return story


def held(after_ms: int, **more: Any) -> Story:
    """Hold the leg so long after the prompt began."""
    story = playing(**more)
    story.take(hold(MAIN), after_ms)
    return story


def test_a_hold_stops_the_prompt() -> None:
    """Music instead; it is told."""
    story = playing()
    request = story.state_as(Playing).request
    assert story.take(hold(MAIN), 1_000) == (StopPlayback(request), StartHoldMusic(MAIN))
    assert (story.emitted[-1].event, story.emitted[-1].channel_id) == ("leg-held", MAIN)


@pytest.mark.parametrize(
    ("heard_ms", "clips", "offset_ms"),
    [
        (0, CLIPS, 0),
        (1_200, CLIPS, 1_200),
        (2_999, CLIPS, 2_999),
        (3_000, (SECOND,), 0),
        (3_400, (SECOND,), 400),
    ],
)
def test_it_goes_on_where_it_was(heard_ms: int, clips: tuple[Clip, ...], offset_ms: int) -> None:
    """The clip that was heard, from where it was stopped, and those after it."""
    story = held(heard_ms)
    commands = story.take(unhold(MAIN), 60_000)
    assert commands == (StopHoldMusic(MAIN), Play(MAIN, f"{ID}.p2", clips, offset_ms))
    assert story.emitted[-1].event == "leg-unheld"
    state = story.state_as(Playing)
    assert state.ends_ms == story.now + 4_000 - heard_ms
    assert state.deadline_ms == state.ends_ms + GRACE_MS


def test_it_is_held_again_and_again() -> None:
    """What was heard adds up, across clips."""
    story = held(1_000)
    for _ in range(2):
        story.take(unhold(MAIN), 5_000)
        story.take(hold(MAIN), 1_200)
    assert story.take(unhold(MAIN), 5_000)[-1] == Play(MAIN, f"{ID}.p4", (SECOND,), 400)


def test_nothing_is_left_to_hear() -> None:
    """Held in its last moment, it is over when the hold is."""
    story = held(4_000, action=HTTPS)
    story.take(unhold(MAIN))
    assert story.state == "awaiting-instructions"


def test_the_end_of_what_was_stopped() -> None:
    """It is told late, and is not the prompt's."""
    story = held(1_000)
    assert story.take(PlaybackEnded(f"{ID}.p1")) == ()
    assert story.state == "playing"
    story.take(unhold(MAIN))
    story.take(PlaybackEnded(f"{ID}.p2"), 3_000)
    assert story.state == "ending"


def test_a_hold_lasts_as_long_as_it_lasts() -> None:
    """No clock of the verb runs; only the call's own end comes."""
    story = held(1_000, timeout=10)
    assert story.state_as(Playing).deadline_ms == NOW + LONGEST_MS


def test_a_timeout_counts_what_is_heard() -> None:
    """The verb's own time stands still during a hold."""
    story = held(2_000, timeout=3)
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Playing).deadline_ms == story.now + 1_000
    assert story.pass_deadline()[0] == StopPlayback(f"{ID}.p2")


@pytest.mark.parametrize("again", [hold, unhold])
def test_the_same_again(again: Callable[[str], Event]) -> None:
    """What holds already changes nothing."""
    story = held(1_000)
    if again is unhold:
        story.take(unhold(MAIN))
    before = story.call
    assert story.take(again(MAIN)) == ()
    assert story.call is before


def test_held_while_it_is_fetched() -> None:
    """The prompt waits for the leg, when it is there."""
    story = answered_call(say())
    assert story.take(hold(MAIN)) == (StartHoldMusic(MAIN),)
    assert story.deliver_media() == ()
    assert story.state_as(Playing).deadline_ms == NOW + LONGEST_MS
    commands = story.take(unhold(MAIN), 60_000)
    assert commands == (StopHoldMusic(MAIN), Play(MAIN, f"{ID}.p1", CLIPS, 0))


def test_held_and_freed_while_it_is_fetched() -> None:
    """The prompt is heard when it is there, as ever."""
    story = answered_call(say())
    story.take(hold(MAIN))
    assert story.take(unhold(MAIN)) == (StopHoldMusic(MAIN),)
    assert story.deliver_media() == (Play(MAIN, f"{ID}.p1", CLIPS, 0),)


def test_audio_that_cannot_be_had() -> None:
    """The tree goes on, the leg stays on hold; the next prompt waits too."""
    story = answered_call(say(action=say()))
    story.take(hold(MAIN))
    assert isinstance(story.deliver_media(())[-1], FetchMedia)
    assert story.state_as(Playing).suspended
    assert story.deliver_media() == ()
    assert isinstance(story.take(unhold(MAIN))[-1], Play)


def test_audio_that_never_comes() -> None:
    """Fetching has its own time, on hold or not."""
    story = answered_call(say(action=HTTPS))
    story.take(hold(MAIN))
    assert story.state_as(Playing).deadline_ms == story.now + FETCH_TIMEOUT_MS
    story.pass_deadline()
    assert story.state_as(AwaitingInstructions)
    assert len(story.commands_of(SendWebhook)) == 1


def test_it_is_fetched_twice() -> None:
    """The second time it is not played again."""
    story = held(1_000)
    assert story.take(MediaFetched(f"{ID}.p1", CLIPS)) == ()
