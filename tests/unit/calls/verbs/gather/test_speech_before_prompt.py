"""A caller who speaks while the prompt of a gather is fetched is not talked over."""

import pytest

from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Play
from engine.calls.model.events import Recovered
from engine.calls.model.requests import HoldRequested
from engine.calls.verbs.gather.clocks import MAX_PAUSE_MS
from tests.harness.calls.builders import HTTPS, MAIN, Story
from tests.harness.calls.gathers import HOOK, gather_result, gathering
from tests.harness.calls.recognizers import BOTH, connect, lose, sound, speak, understand


def speaking() -> Story:
    """Return a call whose caller speaks as its prompt arrives."""
    story = gathering(HOOK, input=list(BOTH), audioUrl=HTTPS)
    connect(story)
    speak(story, after_ms=100)
    story.deliver_media()
    assert plays(story) == 0
    return story


def plays(story: Story) -> int:
    return len(story.commands_of(Play))


def test_the_caller_is_understood() -> None:
    """The prompt is not needed any more."""
    story = speaking()
    speak(story, is_speaking=False, after_ms=800)
    understand(story, "sales")
    assert gather_result(story)["speech"] == "sales"
    assert plays(story) == 0


def test_it_was_a_noise() -> None:
    """The prompt is played whole, and then there is time to speak."""
    story = speaking()
    understand(story, "", 0.0, is_voice=False, after_ms=300)
    assert [each.offset_ms for each in story.commands_of(Play)] == [0]
    state = story.state_as(Gathering)
    assert (state.phase, state.utterances) == ("prompt", 0)
    assert state.ends_ms > story.now


@pytest.mark.parametrize("is_over", [False, True])
def test_no_transcript_comes(is_over: bool) -> None:
    """The prompt is played after the time that a transcript may take."""
    story = speaking()
    before_ms = story.state_as(Gathering).deadline_ms
    if is_over:
        speak(story, is_speaking=False, after_ms=10)
        assert story.state_as(Gathering).deadline_ms < before_ms
    story.pass_deadline()
    assert plays(story) == 1


def test_the_recognizer_is_lost() -> None:
    """The prompt is played at once."""
    story = speaking()
    lose(story, "gateway-lost")
    assert plays(story) == 1


def test_a_key_ends_the_wait() -> None:
    """The prompt is not needed any more."""
    story = speaking()
    story.press("1")
    assert (story.state_as(Gathering).phase, plays(story)) == ("between", 0)


def test_a_hold_meanwhile() -> None:
    """After it the prompt is played from its beginning."""
    story = speaking()
    story.take(HoldRequested(MAIN, True), 300)
    assert plays(story) == 0
    story.take(HoldRequested(MAIN, False), 2_000)
    assert [each.offset_ms for each in story.commands_of(Play)] == [0]


def sounding() -> Story:
    """Return a call whose prompt arrives during a sound of the caller."""
    story = gathering(HOOK, input=list(BOTH), audioUrl=HTTPS)
    connect(story)
    sound(story, "paused", after_ms=100)
    story.deliver_media()
    assert plays(story) == 0
    return story


def test_a_sound_holds_the_prompt_back() -> None:
    """After a cough it is played whole; a voice needs no prompt."""
    story = sounding()
    sound(story, "resumed", after_ms=300)
    assert [each.offset_ms for each in story.commands_of(Play)] == [0]
    story = sounding()
    sound(story, "flushed", after_ms=300)
    assert (plays(story), story.state_as(Gathering).phase) == (0, "first")
    speak(story)
    understand(story, "sales")
    assert gather_result(story)["speech"] == "sales"


def test_speech_within_a_sound() -> None:
    """The recognizer reports it before the detector does: the sound was part of it."""
    story = sounding()
    speak(story, after_ms=100)
    sound(story, "flushed", after_ms=100)
    understand(story, "sales")
    assert (gather_result(story)["speech"], plays(story)) == ("sales", 0)


def test_a_sound_whose_end_is_not_reported() -> None:
    """The prompt is played after the time that a gateway may take; or at once after an outage."""
    story = sounding()
    began = story.now
    story.pass_deadline()
    assert (plays(story), story.now) == (1, began + MAX_PAUSE_MS)
    story = sounding()
    story.take(Recovered(), 10)
    assert plays(story) == 1


def test_a_hold_during_a_sound() -> None:
    """After it the prompt is played whole."""
    story = sounding()
    story.take(HoldRequested(MAIN, True), 300)
    story.take(HoldRequested(MAIN, False), 2_000)
    assert [each.offset_ms for each in story.commands_of(Play)] == [0]


def test_a_sound_that_began_before_the_gather() -> None:
    """Its end changes nothing."""
    story = gathering(HOOK, input=list(BOTH), audioUrl=HTTPS)
    connect(story)
    assert sound(story, "resumed") == ()
    assert sound(story, "flushed") == ()
    story.deliver_media()
    assert plays(story) == 1
