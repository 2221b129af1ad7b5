"""The recognizer of a gather: sounds during the prompt, losses, holds and recoveries."""

import pytest

from engine.calls.media.stream_losses import REPORT_GRACE_MS, RETRY_DELAYS_MS
from engine.calls.model.call_states import Gathering
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import Hangup, PausePlayback, Play, ResumePlayback, StopPlayback
from engine.calls.model.events import (
    DeadlinePassed,
    DigitStarted,
    LegEnded,
    PlaybackEnded,
    Recovered,
)
from engine.calls.model.requests import HoldRequested, MuteRequested
from engine.calls.model.stream_commands import StartStream, StopStream
from engine.calls.model.stream_events import SpeechUnderstood
from engine.calls.recognition import MAX_FAILURES
from engine.calls.verbs.gather.clocks import GRACE_MS, MAX_PAUSE_MS
from engine.calls.verbs.suspendable_playback import length_ms
from tests.harness.calls.builders import MAIN, Story
from tests.harness.calls.gathers import HOOK, gather_result, gathering
from tests.harness.calls.recognizers import (
    BOTH,
    SPEECH,
    connect,
    listening,
    lose,
    phase,
    recognizer,
    sound,
    speak,
    understand,
)


def test_a_cough_pauses_the_prompt() -> None:
    """It continues where it stopped, and its end moves by the pause."""
    story = listening(prompt=True)
    ends_ms = story.state_as(Gathering).ends_ms
    playback = story.state_as(Gathering).request
    assert sound(story, "paused", after_ms=100) == (PausePlayback(playback),)
    assert sound(story, "paused") == ()
    assert sound(story, "resumed", after_ms=320) == (ResumePlayback(playback),)
    assert story.state_as(Gathering).ends_ms == ends_ms + 320
    assert sound(story, "resumed") == ()


def test_speech_ends_a_paused_prompt() -> None:
    story = listening(prompt=True)
    playback = story.state_as(Gathering).request
    sound(story, "paused", after_ms=100)
    assert sound(story, "flushed", after_ms=200) == (StopPlayback(playback),)
    assert phase(story) == "first"
    assert sound(story, "resumed") == ()


def test_a_sound_after_the_prompt_changes_nothing() -> None:
    story = listening()
    before = story.call.state
    assert [sound(story, "paused"), sound(story, "resumed"), sound(story, "flushed")] == [()] * 3
    assert story.call.state == before


def test_a_digit_ends_a_paused_prompt() -> None:
    story = listening(prompt=True)
    playback = story.state_as(Gathering).request
    sound(story, "paused")
    assert StopPlayback(playback) in story.press("1")


def test_a_gateway_that_says_no_more_about_a_sound() -> None:
    """The prompt continues after a second; the gateway means 400 ms at most."""
    story = listening(prompt=True)
    ends_ms, playback = story.state_as(Gathering).ends_ms, story.state_as(Gathering).request
    sound(story, "paused")
    assert story.pass_deadline() == (ResumePlayback(playback),)
    assert story.state_as(Gathering).ends_ms == ends_ms + MAX_PAUSE_MS
    assert sound(story, "resumed") == ()
    assert sound(story, "paused") == (PausePlayback(playback),)
    assert sound(story, "flushed") == (StopPlayback(playback),)


def test_a_lost_gateway_resumes_the_prompt() -> None:
    """Another recognizer starts at once."""
    story = listening(prompt=True)
    lost, playback = recognizer(story), story.state_as(Gathering).request
    sound(story, "paused", after_ms=50)
    commands = lose(story, "gateway-lost")
    assert ResumePlayback(playback) in commands
    assert {StopStream(lost.id), Hangup(lost.snoop, 16)} <= set(commands)
    assert recognizer(story).id != lost.id
    connect(story)
    understand(story, "sales")
    assert "recognizerError" not in gather_result(story)


def test_a_gateway_that_dies_without_a_word() -> None:
    """Its channels end with it: the prompt continues, and no transcript is awaited."""
    story = listening(prompt=True)
    playback = story.state_as(Gathering).request
    speak(story)
    sound(story, "paused")
    story.take(LegEnded(recognizer(story).id, NORMAL))
    assert ResumePlayback(playback) in story.take(DeadlinePassed(), REPORT_GRACE_MS)
    story.take(PlaybackEnded(playback), 500)
    assert phase(story) == "first"


def test_an_utterance_that_is_lost_with_its_gateway() -> None:
    """It must be said again: the clock starts again."""
    story = listening(timeout=5_000)
    speak(story, after_ms=3_000)
    lose(story, "gateway-lost")
    assert phase(story) == "first"
    assert story.state_as(Gathering).deadline_ms >= story.now + 5_000


def fail(story: Story, times: int) -> None:
    """Let the recognizer fail, and each that takes its place when that is due."""
    for delay_ms in (*RETRY_DELAYS_MS, 0)[:times]:
        lose(story, "bot-lost", "overloaded: 4 streams")
        if delay_ms and story.call.streams:
            story.take(DeadlinePassed(), delay_ms)


def test_without_a_recognizer_digits_count() -> None:
    """It is tried again as long as a bot; then the webhook learns why there is no speech."""
    story = listening(BOTH, maxDigits=1, timeout=60_000)
    fail(story, 1 + len(RETRY_DELAYS_MS))
    assert story.call.streams == ()
    assert len(story.commands_of(StartStream)) == 1 + len(RETRY_DELAYS_MS)
    assert phase(story) == "first"
    story.press("1")
    result = gather_result(story)
    assert (result["reason"], result["dtmf"]) == ("max-digits", "1")
    assert result["recognizerError"] == "overloaded: 4 streams"


def test_a_caller_who_can_only_speak_does_not_wait() -> None:
    story = listening(SPEECH, timeout=60_000)
    fail(story, 1 + MAX_FAILURES)
    assert gather_result(story)["reason"] == "recognizer-failed"
    assert len(story.commands_of(StartStream)) == 1 + MAX_FAILURES


def test_a_prompt_leaves_time_for_a_recognizer_to_return() -> None:
    """After the prompt the next failure is the last one."""
    story = listening(SPEECH, prompt=True)
    fail(story, 1 + MAX_FAILURES)
    story.take(PlaybackEnded(story.state_as(Gathering).request), 100)
    assert phase(story) == "first"
    fail(story, 1)
    assert gather_result(story)["reason"] == "recognizer-failed"
    assert story.call.streams == ()


def test_without_a_recognizer_speech_alone_fails_at_once() -> None:
    """A word that it does not know is not tried again."""
    story = listening(SPEECH)
    lose(story, "bot-closed", "unknown-words: Kjærlighet")
    result = gather_result(story)
    assert result["reason"] == "recognizer-failed"
    assert result["recognizerError"] == "unknown-words: Kjærlighet"
    assert (story.call.streams, len(story.commands_of(StartStream))) == ((), 1)


def test_a_prompt_is_heard_to_its_end_without_a_recognizer() -> None:
    """It may say something else; then nobody waits for speech that nobody hears."""
    story = listening(SPEECH, prompt=True)
    playback = story.state_as(Gathering).request
    lose(story, "bot-closed", "unknown-words: Kjærlighet")
    assert phase(story) == "prompt"
    story.take(PlaybackEnded(playback), 100)
    assert gather_result(story)["reason"] == "recognizer-failed"
    assert len(story.commands_of(StartStream)) == 1


def test_a_hold_during_a_prompt_without_a_recognizer() -> None:
    """The gather waits for the end of the hold, and for that of the prompt."""
    story = listening(SPEECH, prompt=True)
    lose(story, "bot-closed", "unknown-words: Kjærlighet")
    story.take(HoldRequested(MAIN, True), 500)
    story.take(HoldRequested(MAIN, False), 60_000)
    assert phase(story) == "prompt"
    story.take(PlaybackEnded(story.state_as(Gathering).request), 100)
    assert gather_result(story)["reason"] == "recognizer-failed"


@pytest.mark.parametrize("prompt", [True, False])
def test_a_hold_ends_it(prompt: bool) -> None:
    """After the hold another one listens."""
    story = listening(prompt=prompt)
    first = recognizer(story)
    speak(story)
    held = story.take(HoldRequested(MAIN, True), 500)
    assert StopStream(first.id) in held
    assert story.call.streams == ()
    story.take(HoldRequested(MAIN, False), 2_000)
    assert recognizer(story).id != first.id
    connect(story)
    understand(story, "sales")
    assert gather_result(story)["reason"] == "speech"


@pytest.mark.parametrize("is_over", [True, False])
def test_a_mute_during_an_utterance(is_over: bool) -> None:
    """The prompt begins again where it was, the same recognizer listens on."""
    story = listening(prompt=True, timeout=500)
    stream = recognizer(story)
    speak(story, after_ms=100)
    if is_over:
        speak(story, is_speaking=False, after_ms=400)
    story.take(MuteRequested(MAIN, "out"), 100)
    assert recognizer(story) == stream
    story.take(PlaybackEnded(story.state_as(Gathering).request), 200)
    assert phase(story) == "speech"
    understand(story, "sales", after_ms=900)
    assert gather_result(story)["reason"] == "speech"


def test_a_hold_while_the_prompt_is_paused() -> None:
    """The prompt continues from where the sound stopped it."""
    story = listening(prompt=True)
    state = story.state_as(Gathering)
    sound(story, "paused", after_ms=400)
    remaining_ms = state.ends_ms - story.now
    story.take(HoldRequested(MAIN, True), 300)
    story.take(HoldRequested(MAIN, False), 2_000)
    assert story.state_as(Gathering).ends_ms == story.now + remaining_ms
    assert story.commands_of(Play)[-1].offset_ms == length_ms(state.clips) - remaining_ms


def test_a_recovery_resumes_the_prompt() -> None:
    """The end of the sound may have been missed."""
    story = listening(prompt=True)
    playback = story.state_as(Gathering).request
    sound(story, "paused")
    assert ResumePlayback(playback) in story.take(Recovered(), 1_700)
    assert story.state_as(Gathering).paused_ms == 0


def test_a_hangup_ends_it() -> None:
    story = listening(prompt=True)
    stream = recognizer(story)
    assert {StopStream(stream.id), Hangup(stream.snoop, 16)} <= set(story.hang_up())
    assert gather_result(story)["reason"] == "hangup"


def test_the_end_of_a_prompt_that_is_paused() -> None:
    """Asterisk may have ended it before the pause."""
    story = listening(prompt=True)
    sound(story, "paused")
    story.take(PlaybackEnded(story.state_as(Gathering).request), 10)
    assert phase(story) == "first"
    assert sound(story, "resumed") == ()
    assert understand(story, "", is_voice=False) == ()
    assert phase(story) == "first"


def test_a_recovery_after_a_digit_that_ended_a_paused_prompt() -> None:
    """The prompt is over."""
    story = listening(prompt=True)
    sound(story, "paused")
    story.press("1")
    assert story.take(Recovered(), 500) == ()
    assert phase(story) == "between"


def test_a_key_that_is_down_at_the_end_of_the_gather() -> None:
    """Its release is waited for, whatever a sound does to the prompt."""
    story = listening(prompt=True, verb_timeout=2.0)
    limit_ms = story.state_as(Gathering).limit_ms
    story.take(DigitStarted(MAIN, limit_ms - GRACE_MS - 50), limit_ms - 100 - story.now)
    deadline_ms = story.state_as(Gathering).deadline_ms
    for outcome in ("paused", "resumed"):
        sound(story, outcome, after_ms=20)
        assert story.state_as(Gathering).deadline_ms == deadline_ms > limit_ms


@pytest.mark.parametrize("has_next_begun", [True, False])
def test_a_transcript_that_is_repeated(has_next_begun: bool) -> None:
    """After an outage gateway and engine repeat the last one: it counts once."""
    story = listening(timeout=1_000)
    speak(story, after_ms=100)
    speak(story, is_speaking=False, after_ms=800)
    noise = SpeechUnderstood(recognizer(story).id, "", 0.0, False, story.now + 20)
    story.take(noise, 20)
    if has_next_begun:
        speak(story, after_ms=300)
    before = story.state_as(Gathering)
    for _ in range(2):
        assert story.take(noise) == ()
    assert story.call.state == before


def test_a_transcript_before_a_noise_is_repeated() -> None:
    """Gateways keep it, as the noise says nothing: it does not end the wait for an utterance."""
    story = listening(timeout=1_000, minConfidence=0.8)
    unsure = SpeechUnderstood(recognizer(story).id, "tea", 0.3, False, story.now)
    story.take(unsure)
    understand(story, "", 0.0, is_voice=False, after_ms=300)
    speak(story, after_ms=300)
    before = story.state_as(Gathering)
    assert (story.take(unsure), story.call.state) == ((), before)


def test_a_recognizer_that_is_not_ready_in_time() -> None:
    """The caller may have spoken: that is no silence."""
    story = gathering(HOOK, input=["speech"], timeout=2_000)
    story.pass_deadline()
    result = gather_result(story)
    assert result["reason"] == "timeout"
    assert result["recognizerError"] == "the recognizer was not ready in time"
