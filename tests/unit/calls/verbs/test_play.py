"""play and say: fetch the audio, play it, then run the nested action."""

import pytest

from engine.calls.model.call_states import Playing
from engine.calls.model.commands import Hangup, Play, StopPlayback
from engine.calls.model.events import LegEnded, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.verbs.play import FETCH_TIMEOUT_MS, GRACE_MS, HANGUP_GRACE_MS
from tests.harness.calls.builders import CLIPS, HTTPS, ID, MAIN, Story, answered_call, say
from tests.harness.calls.control import dial_into, hold, unhold
from wire import verbs
from wire.media import Audio, Clip, Speech

PLAYBACK = f"{ID}.p1"
LENGTH_MS = 4_000


def playing_and_saying(**more: object) -> Story:
    """Return a call that plays a URL, then speaks."""
    return answered_call({"type": "play", "data": {"audioUrl": HTTPS}, "action": say(), **more})


def test_audio_is_fetched_then_played() -> None:
    """To the main leg, with an id that the call allocated; then the nested action runs."""
    story = playing_and_saying()
    assert story.commands_of(FetchMedia) == [FetchMedia(PLAYBACK, (Audio(HTTPS),))]
    assert story.deliver_media() == (Play(MAIN, PLAYBACK, CLIPS),)
    assert story.state_as(Playing).ends_ms == story.now + LENGTH_MS
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
    """A playback that exceeds its length by the grace is stopped and reported."""
    story = playing_and_saying()
    story.deliver_media()
    began = story.now
    assert story.pass_deadline()[0] == StopPlayback(PLAYBACK)
    assert story.now == began + LENGTH_MS + GRACE_MS
    assert [each.reason for each in story.emitted if each.event == "media-failed"] == ["cut_off"]


def test_an_outage_prolongs_the_clock() -> None:
    """The PBX may have stood still meanwhile: the rest is heard, however long it takes."""
    story = playing_and_saying()
    story.deliver_media()
    story.take(Recovered(), GRACE_MS)
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
    assert "media-failed" not in [each.event for each in story.emitted]


@pytest.mark.parametrize("held_ms", [50, HANGUP_GRACE_MS + 50])
def test_a_hold_does_not_repeat_a_failed_playback(held_ms: int) -> None:
    """A hold after the failure neither plays again nor delays `onError`."""
    story = playing_and_saying(onError=say("failed"))
    story.deliver_media()
    failed_ms = story.now
    story.take(PlaybackEnded(PLAYBACK, failed=True))
    story.take(hold(MAIN), 50)
    if held_ms < HANGUP_GRACE_MS:
        assert story.commands_of(Play)[1:] == []
        story.take(unhold(MAIN), held_ms)
    assert story.pass_deadline()[-1] == FetchMedia(f"{ID}.p2", (Speech("failed"),))
    assert story.now == failed_ms + HANGUP_GRACE_MS
    assert story.commands_of(Play) == [Play(MAIN, PLAYBACK, CLIPS)]
    assert story.state_as(Playing).suspended == (held_ms > HANGUP_GRACE_MS)


def test_a_failed_playback_is_skipped_and_a_repeated_failure_does_not_delay() -> None:
    """The call advances after a short wait, in which the leg may end, from the first event."""
    story = playing_and_saying()
    story.deliver_media()
    failed_ms = story.now
    assert story.take(PlaybackEnded(PLAYBACK, failed=True)) == ()
    story.take(PlaybackEnded(PLAYBACK, failed=True), 100)
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
    ],
)
def test_unrelated_events_are_ignored(event: MediaFetched) -> None:
    """Another request's audio, and the same audio again, change nothing."""
    story = playing_and_saying()
    story.deliver_media()
    before = story.call
    assert story.take(event) == ()
    assert story.call is before


def test_recovery_restarts_the_fetch_deadline() -> None:
    story = playing_and_saying()
    story.take(Recovered(), 15_000)
    assert story.state_as(Playing).deadline_ms == story.now + FETCH_TIMEOUT_MS


def looping(loop: int, clips: tuple[Clip, ...] = CLIPS) -> Story:
    """Return a call that plays `clips` so many times, then speaks."""
    data = {"audioUrl": [HTTPS] * len(clips), "loop": loop}
    story = answered_call({"type": "play", "data": data, "action": say()})
    story.deliver_media(clips)
    return story


def end_playback(story: Story) -> None:
    """Let the current playback end in its time."""
    state = story.state_as(Playing)
    story.take(PlaybackEnded(state.request), state.ends_ms - story.now)


def test_rounds_are_one_playback() -> None:
    """As many rounds as fit are requested at once: a short sound repeats without a gap."""
    story = looping(3)
    assert story.commands_of(Play) == [Play(MAIN, PLAYBACK, CLIPS * 3)]
    assert story.state_as(Playing).ends_ms == story.now + 3 * LENGTH_MS
    end_playback(story)
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("hello"),)


@pytest.mark.parametrize("loop", [1, 7, 10, 11, 25, 100])
def test_the_number_of_rounds(loop: int) -> None:
    """Further rounds are further playbacks."""
    story = looping(loop)
    began = story.now
    while isinstance(story.state_as(Playing).verb, verbs.Play):
        end_playback(story)
    plays = story.commands_of(Play)
    assert sum((each.clips for each in plays), ()) == CLIPS * loop
    assert len({each.playback for each in plays}) == len(plays)
    assert story.now == began + loop * LENGTH_MS


def test_a_hold_in_a_later_round() -> None:
    """The rest is played from the position, with the rounds that are left."""
    story = looping(3)
    story.take(hold(MAIN), 2 * LENGTH_MS - 500)
    assert story.take(unhold(MAIN), 60_000)[-1] == Play(MAIN, f"{ID}.p2", CLIPS[1:] + CLIPS, 500)
    story.take(hold(MAIN), 1_000)
    assert story.take(unhold(MAIN), 60_000)[-1] == Play(MAIN, f"{ID}.p3", CLIPS, 500)
    began = story.now
    end_playback(story)
    assert story.now == began + LENGTH_MS - 500
    assert isinstance(story.state_as(Playing).verb, verbs.Say)


def test_a_hold_in_a_later_playback() -> None:
    """The rounds of earlier playbacks count."""
    story = looping(12, CLIPS[:1] * 5)
    end_playback(story)
    assert story.state_as(Playing).played_ms == 4 * 5 * 3_000
    story.take(hold(MAIN), 20_000)
    play = story.take(unhold(MAIN), 1_000)[-1]
    assert play == Play(MAIN, f"{ID}.p3", CLIPS[:1] * (4 + 15), 2_000)
    while isinstance(story.state_as(Playing).verb, verbs.Play):
        end_playback(story)
    played = sum(len(each.clips) for each in story.commands_of(Play))
    assert played == 60 + 20 - 6


def test_recovery_in_a_later_round() -> None:
    """A playback that ended during the outage is followed by the rounds that are left."""
    story = looping(11)
    story.take(PlaybackEnded(PLAYBACK), 10 * LENGTH_MS + 60_000)
    story.take(Recovered())
    assert story.commands_of(Play)[-1] == Play(MAIN, f"{ID}.p2", CLIPS)


def test_a_timeout_covers_all_rounds() -> None:
    data = {"audioUrl": HTTPS, "loop": 100}
    story = answered_call({"type": "play", "data": data, "action": say(), "timeout": 90})
    story.deliver_media()
    began = story.now
    end_playback(story)
    end_playback(story)
    assert story.pass_deadline()[0] == StopPlayback(f"{ID}.p3")
    assert story.now == began + 90_000


def test_a_failed_round_ends_the_loop() -> None:
    """It is not repeated a hundred times."""
    story = looping(100)
    story.take(PlaybackEnded(PLAYBACK, failed=True))
    story.pass_deadline()
    assert isinstance(story.state_as(Playing).verb, verbs.Say)


def test_a_loop_without_sound() -> None:
    """Empty audio is skipped; so is a playback that ends before its audio arrives."""
    assert isinstance(looping(3, (Clip("e" * 32, 0),)).state_as(Playing).verb, verbs.Say)
    data = {"audioUrl": HTTPS, "loop": 3}
    story = answered_call({"type": "play", "data": data, "action": say()})
    story.take(PlaybackEnded(PLAYBACK))
    assert isinstance(story.state_as(Playing).verb, verbs.Say)


def test_a_loop_that_is_interrupted() -> None:
    """After the conversation it restarts from the first round."""
    story = looping(3)
    leg = dial_into(story, state="answered")
    story.take(LegEnded(leg, 16), 10_000)
    story.deliver_media()
    assert story.commands_of(Play)[-1].clips == CLIPS * 3


def test_the_call_hangs_up_after_the_last_action() -> None:
    story = answered_call(say())
    story.deliver_media()
    assert story.take(PlaybackEnded(PLAYBACK), 1_000)[0] == Hangup(MAIN, 16)
