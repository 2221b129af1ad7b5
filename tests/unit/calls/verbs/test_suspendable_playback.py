"""A prompt whose leg is put on hold: suspended, and resumed from its position."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.calls.model.call_states import AwaitingInstructions, Playing
from engine.calls.model.commands import Play, StartHoldMusic, StopHoldMusic, StopPlayback
from engine.calls.model.events import Event, PlaybackEnded
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.play import FETCH_TIMEOUT_MS, GRACE_MS
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, Story, answered_call, say
from tests.harness.calls.control import hold, unhold
from wire.media import Clip

FIRST, SECOND = CLIPS  # 3 s and 1 s


def playing_two_clips(**more: Any) -> Story:
    """Return a call that plays two clips, of 4 s in total."""
    story = answered_call(say(**more))
    story.deliver_media()
    return story


def held_after(after_ms: int, **more: Any) -> Story:
    """Put the leg on hold so long after the prompt started."""
    story = playing_two_clips(**more)
    story.take(hold(MAIN), after_ms)
    return story


def test_a_hold_stops_the_prompt() -> None:
    """Hold music plays instead, and an event reports the hold."""
    story = playing_two_clips()
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
def test_it_resumes_from_its_position(
    heard_ms: int, clips: tuple[Clip, ...], offset_ms: int
) -> None:
    """The current clip continues from its position, then the others follow."""
    story = held_after(heard_ms)
    commands = story.take(unhold(MAIN), 60_000)
    assert commands == (StopHoldMusic(MAIN), Play(MAIN, f"{ID}.p2", clips, offset_ms))
    assert story.emitted[-1].event == "leg-unheld"
    state = story.state_as(Playing)
    assert state.ends_ms == story.now + 4_000 - heard_ms
    assert state.deadline_ms == state.ends_ms + GRACE_MS


def test_several_holds() -> None:
    """The position adds up, across clips."""
    story = held_after(1_000)
    for _ in range(2):
        story.take(unhold(MAIN), 5_000)
        story.take(hold(MAIN), 1_200)
    assert story.take(unhold(MAIN), 5_000)[-1] == Play(MAIN, f"{ID}.p4", (SECOND,), 400)


def test_nothing_is_left_to_play() -> None:
    """Held in its last moment, the prompt ends with the hold."""
    story = held_after(4_000, action=HTTPS)
    story.take(unhold(MAIN))
    assert story.state == "awaiting-instructions"


def test_the_end_of_the_stopped_playback() -> None:
    """It is reported late, and does not end the prompt."""
    story = held_after(1_000)
    assert story.take(PlaybackEnded(f"{ID}.p1")) == ()
    assert story.state == "playing"
    story.take(unhold(MAIN))
    story.take(PlaybackEnded(f"{ID}.p2"), 3_000)
    assert story.state == "ending"


def test_a_hold_has_no_limit() -> None:
    """No clock of the verb runs; only the call's own limit remains."""
    story = held_after(1_000, timeout=10)
    assert story.state_as(Playing).deadline_ms == story.call.must_end_ms


def test_a_timeout_does_not_count_the_hold() -> None:
    story = held_after(2_000, timeout=3)
    story.take(unhold(MAIN), 60_000)
    assert story.state_as(Playing).deadline_ms == story.now + 1_000
    assert story.pass_deadline()[0] == StopPlayback(f"{ID}.p2")


@pytest.mark.parametrize("again", [hold, unhold])
def test_repeated_requests_change_nothing(again: Callable[[str], Event]) -> None:
    story = held_after(1_000)
    if again is unhold:
        story.take(unhold(MAIN))
    before = story.call
    assert story.take(again(MAIN)) == ()
    assert story.call is before


def test_held_while_it_is_fetched() -> None:
    """The prompt waits until the hold ends."""
    story = answered_call(say())
    assert story.take(hold(MAIN)) == (StartHoldMusic(MAIN),)
    assert story.deliver_media() == ()
    assert story.state_as(Playing).deadline_ms == story.call.must_end_ms
    commands = story.take(unhold(MAIN), 60_000)
    assert commands == (StopHoldMusic(MAIN), Play(MAIN, f"{ID}.p1", CLIPS, 0))


def test_held_and_unheld_while_it_is_fetched() -> None:
    """The prompt plays when it has been fetched."""
    story = answered_call(say())
    story.take(hold(MAIN))
    assert story.take(unhold(MAIN)) == (StopHoldMusic(MAIN),)
    assert story.deliver_media() == (Play(MAIN, f"{ID}.p1", CLIPS, 0),)


def test_failed_audio_on_hold() -> None:
    """The tree continues, the leg stays on hold; the next prompt waits, too."""
    story = answered_call(say(action=say()))
    story.take(hold(MAIN))
    assert isinstance(story.deliver_media(())[-1], FetchMedia)
    assert story.state_as(Playing).suspended
    assert story.deliver_media() == ()
    assert isinstance(story.take(unhold(MAIN))[-1], Play)


def test_the_fetch_times_out_on_hold() -> None:
    story = answered_call(say(action=HTTPS))
    story.take(hold(MAIN))
    assert story.state_as(Playing).deadline_ms == story.now + FETCH_TIMEOUT_MS
    story.pass_deadline()
    assert story.state_as(AwaitingInstructions)
    assert len(story.commands_of(SendWebhook)) == 1


def test_it_is_fetched_twice() -> None:
    """The second result is ignored."""
    story = held_after(1_000)
    assert story.take(MediaFetched(f"{ID}.p1", CLIPS)) == ()
