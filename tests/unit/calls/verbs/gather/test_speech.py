"""gather with speech: utterances, noises, digits beside them, clocks, and the recognizer's life."""

import pytest

from engine.calls.model.call_states import Gathering
from engine.calls.model.causes import NORMAL
from engine.calls.model.commands import (
    AddToBridge,
    DestroyBridge,
    Hangup,
    Listen,
    StopPlayback,
)
from engine.calls.model.events import DeadlinePassed, LegCreated, PlaybackEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.stream_commands import StartStream, StopStream
from engine.calls.verbs.gather.clocks import GRACE_MS, TRANSCRIPT_GRACE_MS
from tests.harness.calls.builders import HTTPS, MAIN, answered_call, say
from tests.harness.calls.gathers import HOOK, PROMPT, gather_result, gathering
from tests.harness.calls.recognizers import (
    BOTH,
    SPEECH,
    connect,
    listening,
    phase,
    recognizer,
    sound,
    speak,
    understand,
)
from wire.media import MediaFault

HINTS = ["sales", {"text": "Kjell", "soundsLike": "shell"}]


def test_the_recognizer_hears_the_caller_only() -> None:
    """It starts with the gather; a snoop of what the caller says is bridged with its stream."""
    story = gathering(input=list(BOTH), hints=HINTS, recognizer="whisper", language="en-GB")
    (start,), (snoop,) = story.commands_of(StartStream), story.commands_of(Listen)
    assert start.recognition is not None
    assert start.recognition.recognizer == "whisper"
    assert start.recognition.start.language == "en-GB"
    assert len(start.recognition.start.hints) == len(HINTS)
    assert (snoop.leg, snoop.track) == (MAIN, "in")
    story.take(LegCreated(snoop.snoop))
    bridged = story.take(LegCreated(start.stream))
    assert bridged == (AddToBridge(f"{snoop.snoop}b", (snoop.snoop, start.stream)),)


def test_a_gather_of_digits_has_none() -> None:
    assert gathering().commands_of(StartStream) == []


def test_an_utterance_ends_it() -> None:
    """The webhook gets the text and the confidence, and the recognizer ends."""
    story = listening()
    stream = recognizer(story)
    speak(story, after_ms=900)
    speak(story, is_speaking=False, after_ms=1_500)
    commands = understand(story, "sales", 0.93, after_ms=20)
    assert StopStream(stream.id) in commands
    assert Hangup(stream.snoop, NORMAL) in commands
    assert DestroyBridge(f"{stream.snoop}b") in commands
    assert story.call.streams == ()
    result = gather_result(story)
    assert (result["reason"], result["speech"], result["confidence"]) == ("speech", "sales", 0.93)
    assert result["dtmf"] == ""
    (event,) = (each for each in story.emitted if each.event == "gathered")
    assert (event.reason, event.speech, event.confidence) == ("speech", "sales", 0.93)


def test_it_is_in_the_call_record() -> None:
    story = listening()
    understand(story, "sales", 0.93)
    story.hang_up()
    (record,) = (each.record for each in story.emitted if each.record is not None)
    assert [(each.reason, each.speech, each.confidence) for each in record.gathered] == [
        ("speech", "sales", 0.93)
    ]
    assert [each for each in story.emitted if each.event == "stream"] == []  # a part of its gather


def test_a_voice_that_is_not_understood_is_no_match() -> None:
    """The best guess is told."""
    story = listening(minConfidence=0.6)
    understand(story, "sales", 0.59)
    result = gather_result(story)
    assert (result["reason"], result["speech"], result["confidence"]) == ("no-match", "sales", 0.59)


def test_a_noise_changes_nothing() -> None:
    """But the clock starts again."""
    story = listening(timeout=5_000)
    speak(story, after_ms=4_900)
    speak(story, is_speaking=False, after_ms=800)
    assert understand(story, "sales", 0.2, is_voice=False, after_ms=20) == ()
    assert phase(story) == "first"
    began_ms = story.now
    story.pass_deadline()
    assert story.now == began_ms + 5_000 + GRACE_MS
    result = gather_result(story)
    assert (result["reason"], "speech" in result) == ("timeout", False)


def test_a_short_word_without_a_voice_counts() -> None:
    """The detector of voices misses short words; what is understood counts."""
    story = listening()
    understand(story, "no", 0.8, is_voice=False)
    assert gather_result(story)["reason"] == "speech"


@pytest.mark.parametrize(
    ("recognizer", "is_voice", "confidence", "reason"),
    [
        ("grammar", True, 0.5, "speech"),
        ("grammar", True, 0.49, "no-match"),
        ("whisper", True, 0.2, "speech"),
        ("whisper", False, 0.49, None),
        ("whisper", False, 0.5, "speech"),
    ],
)
def test_the_least_confidence(
    recognizer: str, is_voice: bool, confidence: float, reason: str | None
) -> None:
    """By default that of the recognizer; a noise is no speech unless it is clearly understood."""
    story = listening(recognizer=recognizer)
    understand(story, "sales", confidence, is_voice=is_voice)
    reasons = [each.reason for each in story.emitted if each.event == "gathered"]
    assert reasons == ([reason] if reason else [])


def test_the_clock_stands_still_while_the_caller_speaks() -> None:
    """Up to the longest utterance and the time for its transcript."""
    story = listening(timeout=3_000, endpointing={"maxMs": 20_000})
    speak(story, after_ms=2_900)
    assert story.state_as(Gathering).deadline_ms == story.now + 20_000 + TRANSCRIPT_GRACE_MS
    speak(story, is_speaking=False, after_ms=9_000)
    assert story.state_as(Gathering).deadline_ms == story.now + TRANSCRIPT_GRACE_MS


def test_a_recognizer_that_never_answers() -> None:
    """The utterance is forgotten, and the clock starts again."""
    story = listening(timeout=3_000)
    speak(story, after_ms=100)
    speak(story, is_speaking=False, after_ms=500)
    story.pass_deadline()
    assert phase(story) == "first"
    story.pass_deadline()
    assert gather_result(story)["reason"] == "timeout"


def test_a_noise_before_speech() -> None:
    """Its transcript may come during the next utterance, which is waited for."""
    story = listening(timeout=500)
    for is_speaking in (True, False, True):
        speak(story, is_speaking=is_speaking, after_ms=200)
    deadline_ms = story.state_as(Gathering).deadline_ms
    assert understand(story, "", is_voice=False, after_ms=300) == ()
    assert (phase(story), story.state_as(Gathering).deadline_ms) == ("speech", deadline_ms)
    speak(story, is_speaking=False, after_ms=3_000)
    assert story.state_as(Gathering).deadline_ms == story.now + TRANSCRIPT_GRACE_MS
    understand(story, "sales", after_ms=900)
    assert gather_result(story)["speech"] == "sales"


def test_two_noises_in_a_row() -> None:
    """The clock starts again when both are known as such."""
    story = listening(timeout=500)
    for is_speaking in (True, False, True, False):
        speak(story, is_speaking=is_speaking, after_ms=200)
    understand(story, "", is_voice=False, after_ms=20)
    assert phase(story) == "speech"
    understand(story, "", is_voice=False, after_ms=900)
    assert phase(story) == "first"
    assert story.state_as(Gathering).deadline_ms == story.now + 500 + GRACE_MS


def test_the_first_digit_ends_the_speech() -> None:
    story = listening(maxDigits=2)
    stream = recognizer(story)
    speak(story)
    assert StopStream(stream.id) in story.press("1")
    assert story.call.streams == ()
    story.press("2")
    assert (gather_result(story)["dtmf"], gather_result(story)["reason"]) == ("12", "max-digits")


def test_without_digits_they_are_dropped() -> None:
    """Also those that were typed ahead, and the terminator."""
    story = listening(SPEECH)
    assert (story.press("1"), story.press("#")) == ((), ())
    understand(story, "sales")
    assert gather_result(story)["dtmf"] == ""


def test_digits_typed_ahead_need_no_recognizer() -> None:
    tree = {
        **say(),
        "action": {"type": "gather", "data": {"input": list(BOTH), "maxDigits": 2}},
    }
    story = answered_call(tree)
    story.deliver_media()
    story.press("1")
    story.take(PlaybackEnded(PROMPT))
    assert story.commands_of(StartStream) == []


def test_with_barge_in_off_it_listens_after_the_prompt() -> None:
    story = gathering(audioUrl=HTTPS, input=list(BOTH), bargeIn="off")
    story.deliver_media()
    assert story.commands_of(StartStream) == []
    story.take(PlaybackEnded(story.state_as(Gathering).request), 2_000)
    connect(story)
    understand(story, "sales")
    assert gather_result(story)["reason"] == "speech"


def test_an_utterance_during_the_prompt() -> None:
    """What is understood stops the prompt, whatever the detector of voices said."""
    story = listening(prompt=True)
    speak(story, after_ms=300)
    commands = understand(story, "sales", after_ms=900)
    assert [type(each) for each in commands if isinstance(each, StopPlayback | SendWebhook)] == [
        StopPlayback,
        SendWebhook,
    ]


def test_a_prompt_that_ends_while_the_caller_speaks() -> None:
    """The transcript is awaited."""
    story = listening(prompt=True)
    speak(story, after_ms=300)
    story.take(PlaybackEnded(story.state_as(Gathering).request), 2_000)
    assert phase(story) == "speech"
    understand(story, "sales", after_ms=500)
    assert gather_result(story)["reason"] == "speech"


@pytest.mark.parametrize("failure", ["fetch", "playback"])
def test_a_prompt_that_fails_while_the_caller_speaks(failure: str) -> None:
    """The caller is heard out: neither the failure nor `onError` ends the gather."""
    verb = {
        "type": "gather",
        "data": {"input": list(BOTH), "audioUrl": HTTPS},
        "action": HOOK,
        "onError": {"type": "hangup", "data": {}},
    }
    story = answered_call(verb)
    connect(story)
    if failure == "playback":
        story.deliver_media()
    request = story.state_as(Gathering).request
    speak(story, after_ms=300)
    if failure == "fetch":
        story.take(MediaFetched(request, (), failed=(MediaFault(HTTPS, "not_found"),)), 100)
    else:
        story.take(PlaybackEnded(request, failed=True), 100)
        story.take(DeadlinePassed(), 2_000)
    assert phase(story) == "speech"
    understand(story, "sales", after_ms=500)
    assert gather_result(story)["reason"] == "speech"


def test_speech_that_flushes_the_prompt_before_its_utterance_begins() -> None:
    """The clock runs until the recognizer notices."""
    story = listening(prompt=True)
    sound(story, "flushed", after_ms=300)
    assert phase(story) == "first"
    speak(story, after_ms=40)
    assert phase(story) == "speech"


def test_an_inline_action_knows_nothing_of_speech() -> None:
    """But the next verb runs, and the recognizer of the gather has ended."""
    story = listening(action=say())
    understand(story, "sales")
    assert (story.state, story.call.streams) == ("playing", ())


def test_two_gathers_have_a_recognizer_each() -> None:
    """A late transcript of the first one's speech is not the second one's."""
    second = {"type": "gather", "data": {"input": list(SPEECH)}, "action": HTTPS}
    story = listening(action=second)
    first = recognizer(story)
    understand(story, "sales")
    assert recognizer(story).id != first.id
    assert len(story.commands_of(StartStream)) == len((first, second))
