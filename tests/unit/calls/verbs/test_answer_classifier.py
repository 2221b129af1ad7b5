"""Answer detection by the sounds of a leg; the cases of Asterisk's AMD() (apps/app_amd.c)."""

import pytest
from msgspec.structs import replace

from engine.calls.model.amd_sounds import AmdSounds, sound_ended, sound_started
from engine.calls.verbs.answer_classifier import classify, silence_ms
from wire.answer_detection import AnsweredBy, Detection

USUAL = Detection()
ANSWER = 1_000_000


def heard(*sounds: tuple[int, int], lasts_from: int = 0) -> AmdSounds:
    """Return the activity of sounds from when to when after the answer; the last may continue."""
    known = AmdSounds(ANSWER)
    for start, end in sounds:
        known = sound_started(known, ANSWER + start)
        known = sound_ended(known, end - start, ANSWER + end + silence_ms(USUAL))
    return sound_started(known, ANSWER + lasts_from) if lasts_from else known


@pytest.mark.parametrize(
    ("sounds", "known_ms", "who"),
    [
        ([], 2_500, "machine"),
        ([(300, 700)], 1_500, "human"),
        ([(300, 700), (900, 1_300)], 2_100, "human"),
        ([(300, 1_900)], 1_900, "machine"),
        ([(300, 1_800)], 1_800, "machine"),
        ([(300, 1_100), (1_400, 2_200)], 2_200, "machine"),
        ([(300, 360)], 2_500, "machine"),
        ([(300, 360), (1_000, 1_400)], 2_200, "human"),
        ([(3_000, 3_400)], 4_000, "unknown"),
    ],
    ids=[
        "nothing at all",
        "a word, then silence",
        "two words, then silence",
        "a long greeting",
        "a greeting that is just long enough",
        "a greeting with a breath in it",
        "a click is no voice",
        "a click, then a word",
        "a word too late to judge",
    ],
)
def test_who_answered(sounds: list[tuple[int, int]], known_ms: int, who: AnsweredBy) -> None:
    """Silence at first or much talk is a machine; a word and a silence is a person."""
    assert classify(USUAL, heard(*sounds)) == (ANSWER + known_ms, who)


def test_a_sound_that_continues() -> None:
    """It is a machine once it must have lasted for the greeting; its end is reported late."""
    assert classify(USUAL, heard(lasts_from=300)) == (ANSWER + 2_000, "machine")
    assert classify(USUAL, heard((300, 1_000), lasts_from=1_400)) == (ANSWER + 2_400, "machine")
    assert classify(USUAL, heard(lasts_from=2_400)) == (ANSWER + 4_000, "unknown")


def test_custom_settings() -> None:
    """timeout, initialSilence, greeting and afterGreetingSilence are used."""
    settings = Detection(True, 9_000, 5_000, 3_000, 150)
    assert classify(settings, heard()) == (ANSWER + 5_000, "machine")
    assert classify(settings, heard((300, 2_300))) == (ANSWER + 2_450, "human")
    assert classify(settings, heard(lasts_from=300)) == (ANSWER + 3_450, "machine")
    assert silence_ms(settings) == 150


@pytest.mark.parametrize(("timeout", "who"), [(1_500, "human"), (1_499, "unknown")])
def test_a_result_at_the_timeout_counts(timeout: int, who: AnsweredBy) -> None:
    """A word and its silence, which are over at 1500 ms."""
    settings = replace(USUAL, timeout=timeout)
    assert classify(settings, heard((300, 700))) == (ANSWER + timeout, who)


def test_repeated_and_late_reports() -> None:
    """A sound starts once; one whose start was missed started its length ago."""
    assert sound_started(heard(lasts_from=300), ANSWER + 900) == heard(lasts_from=300)
    late = sound_ended(AmdSounds(ANSWER), 400, ANSWER + 900)
    assert (late.voice_ms, late.silent_from_ms) == (400, ANSWER + 900)
