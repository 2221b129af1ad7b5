"""play and say: fetch the audio, play it, then run the nested action (spec, Verbs)."""

import pytest

from engine.calls.model.commands import Hangup, Play, StopPlayback
from engine.calls.model.events import DigitPressed, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Playing
from engine.calls.verbs.play import FETCH_TIMEOUT_MS, GRACE_MS, HANGUP_GRACE_MS
from tests.unit.calls.harness.builders import CLIPS, HTTPS, ID, MAIN, Story, answered_call, say
from wire.media import Audio, Speech

PLAYBACK = f"{ID}.p1"
LENGTH_MS = 4_000


def playing_and_saying(**more: object) -> Story:
    """Return a call that plays a URL, then speaks."""
    return answered_call({"type": "play", "data": {"audioUrl": HTTPS}, "action": say(), **more})


def test_audio_is_fetched_then_played() -> None:
    """The clips are played to the main leg with an id that the call allocated."""
    story = playing_and_saying()
    assert story.commands_of(FetchMedia) == [FetchMedia(PLAYBACK, (Audio(HTTPS),))]
    assert story.deliver_media() == (Play(MAIN, PLAYBACK, CLIPS),)
    assert story.state_as(Playing).ends_ms == story.now + LENGTH_MS


def test_the_nested_action_runs_after_the_playback() -> None:
    story = playing_and_saying()
    story.deliver_media()
    assert story.take(PlaybackEnded(PLAYBACK), LENGTH_MS) == (
        FetchMedia(f"{ID}.p2", (Speech("hello"),)),
    )


def test_several_urls_are_one_playback() -> None:
    """A list is played one after another."""
    story = answered_call({"type": "play", "data": {"audioUrl": [HTTPS, HTTPS + "b"]}})
    assert story.commands_of(FetchMedia)[0].sources == (Audio(HTTPS), Audio(HTTPS + "b"))


def test_speech_carries_voice_and_language() -> None:
    """say.data: text, voice, language, ssml."""
    data = {"text": "namaste", "voice": "asha", "language": "hi-IN", "ssml": True}
    story = answered_call({"type": "say", "data": data})
    assert story.commands_of(FetchMedia)[0].sources == (Speech("namaste", "asha", "hi-IN", True),)


def test_failed_audio_is_skipped() -> None:
    """A media error does not end the call: the next action runs."""
    story = playing_and_saying()
    assert isinstance(story.deliver_media(())[0], FetchMedia)
    assert story.state_as(Playing).request == f"{ID}.p2"


def test_a_fetch_times_out() -> None:
    story = playing_and_saying()
    began = story.now
    commands = story.pass_deadline()
    assert story.now == began + FETCH_TIMEOUT_MS
    assert [type(each) for each in commands] == [FetchMedia]


def test_a_playback_that_never_ends_is_stopped() -> None:
    """A playback that exceeds its length by the grace is stopped."""
    story = playing_and_saying()
    story.deliver_media()
    began = story.now
    assert story.pass_deadline()[0] == StopPlayback(PLAYBACK)
    assert story.now == began + LENGTH_MS + GRACE_MS


def test_a_timeout_cuts_it_short() -> None:
    """The verb's own timeout, in seconds, ends the playback."""
    story = playing_and_saying(timeout=1.5)
    story.deliver_media()
    began = story.now
    assert story.pass_deadline()[0] == StopPlayback(PLAYBACK)
    assert story.now == began + 1_500


def test_a_failed_playback_is_skipped() -> None:
    """The call advances after a short wait, in which the leg may end."""
    story = playing_and_saying()
    story.deliver_media()
    failed_ms = story.now
    assert story.take(PlaybackEnded(PLAYBACK, failed=True)) == ()
    story.pass_deadline()
    assert story.now == failed_ms + HANGUP_GRACE_MS
    assert story.state_as(Playing).request == f"{ID}.p2"


def test_nothing_starts_when_a_hangup_failed_the_playback() -> None:
    """Asterisk reports the failed playback first and the hangup shortly after."""
    story = playing_and_saying()
    story.deliver_media()
    story.take(PlaybackEnded(PLAYBACK, failed=True))
    story.hang_up()
    assert story.commands_of(FetchMedia) == [FetchMedia(PLAYBACK, (Audio(HTTPS),))]


@pytest.mark.parametrize(
    "event",
    [
        MediaFetched("other", CLIPS),
        MediaFetched(PLAYBACK, CLIPS),
        PlaybackEnded("other"),
        DigitPressed(MAIN, "1", 0),
        Recovered(),
    ],
)
def test_unrelated_events_are_ignored(event: MediaFetched) -> None:
    """Another request's audio, the same audio again, digits and a recovery change nothing."""
    story = playing_and_saying()
    story.deliver_media()
    before = story.call
    assert story.take(event) == ()
    assert story.call is before


def test_recovery_restarts_the_fetch_deadline() -> None:
    story = playing_and_saying()
    story.take(Recovered(), 15_000)
    assert story.state_as(Playing).deadline_ms == story.now + FETCH_TIMEOUT_MS


def test_the_call_hangs_up_after_the_last_action() -> None:
    story = answered_call(say())
    story.deliver_media()
    assert story.take(PlaybackEnded(PLAYBACK), 1_000)[0] == Hangup(MAIN, 16)
