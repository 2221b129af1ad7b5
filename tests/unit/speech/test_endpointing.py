"""Where utterances begin and end: levels of frames in virtual time."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from speech.audio import FRAME_MS
from speech.endpointing import Boundary, Endpointer, UtteranceEnded, UtteranceStarted

QUIET, SPEECH = -65.0, -25.0


def heard(endpointer: Endpointer, *parts: tuple[float, int]) -> list[Boundary]:
    """Return the boundaries of parts with a level and a length in milliseconds."""
    levels = (level for level, length_ms in parts for _ in range(length_ms // FRAME_MS))
    return boundaries(endpointer, levels)


def boundaries(endpointer: Endpointer, levels: Iterable[float]) -> list[Boundary]:
    return [each for level in levels if (each := endpointer.hear(level)) is not None]


def test_an_utterance() -> None:
    """It ends exactly `silence_ms` after its last frame, and its times are those of speech."""
    endpointer = Endpointer(700, 15_000)
    assert heard(endpointer, (QUIET, 500), (SPEECH, 1_000)) == [UtteranceStarted(500)]
    assert heard(endpointer, (QUIET, 680)) == []
    assert heard(endpointer, (QUIET, 20)) == [UtteranceEnded(500, 1_500)]
    assert endpointer.now_ms == 2_200
    assert endpointer.start_ms is None


def test_speech_at_once() -> None:
    """Also the first frames of a stream may be speech."""
    assert heard(Endpointer(300, 15_000), (SPEECH, 800), (QUIET, 300)) == [
        UtteranceStarted(0),
        UtteranceEnded(0, 800),
    ]


def test_pauses_within_speech() -> None:
    """Those shorter than `silence_ms` end nothing."""
    parts = [(SPEECH, 200), (QUIET, 280)] * 5
    assert heard(Endpointer(300, 15_000), *parts, (QUIET, 300)) == [
        UtteranceStarted(0),
        UtteranceEnded(0, 4 * 480 + 200),
    ]


def test_clicks_are_no_speech() -> None:
    """A sound of 40 ms begins nothing."""
    assert heard(Endpointer(300, 15_000), *[(QUIET, 200), (SPEECH, 40)] * 20) == []


def test_quiet_ends_of_words_are_speech() -> None:
    """What would not begin an utterance continues it: hysteresis."""
    between = QUIET + 9
    assert heard(Endpointer(300, 15_000), (QUIET, 500), (between, 400)) == []
    assert heard(
        Endpointer(300, 15_000), (QUIET, 500), (SPEECH, 300), (between, 400), (QUIET, 300)
    ) == [UtteranceStarted(500), UtteranceEnded(500, 1_200)]


def test_the_echo_of_a_loud_voice() -> None:
    """Far below the loudest frame there is no speech, even above the noise."""
    found = heard(Endpointer(300, 15_000), (QUIET, 500), (-8.0, 500), (-50.0, 300))
    assert found == [UtteranceStarted(500), UtteranceEnded(500, 1_000)]


def test_a_long_utterance_is_cut() -> None:
    """The rest is the next one, without a gap of speech that is lost."""
    found = heard(Endpointer(300, 1_000), (SPEECH, 1_500), (QUIET, 300))
    assert found == [
        UtteranceStarted(0),
        UtteranceEnded(0, 1_000, is_cut=True),
        UtteranceStarted(1_000),
        UtteranceEnded(1_000, 1_500),
    ]


def test_noise_that_begins_and_stays() -> None:
    """Its level becomes that of the noise: it ends, and speech above it is still found."""
    endpointer = Endpointer(300, 60_000)
    first = heard(endpointer, (QUIET, 500), (-45.0, 8_000))
    assert [type(each) for each in first] == [UtteranceStarted, UtteranceEnded]
    later = heard(endpointer, (-45.0, 2_000), (SPEECH, 500), (-45.0, 300))
    assert later == [UtteranceStarted(10_500), UtteranceEnded(10_500, 11_000)]


def test_the_end_of_a_stream() -> None:
    """It ends an utterance, and only one that has begun."""
    endpointer = Endpointer(700, 15_000)
    heard(endpointer, (QUIET, 200), (SPEECH, 300), (QUIET, 100))
    assert endpointer.end() == UtteranceEnded(200, 500)
    assert endpointer.end() is None


@pytest.mark.parametrize("seed", range(20))
def test_speech_that_flutters(seed: int) -> None:
    """Levels of real speech jump by 20 dB from frame to frame: one utterance still."""
    chance = random.Random(seed)
    speech = [SPEECH, SPEECH, SPEECH, *(chance.uniform(-45, -20) for _ in range(100)), SPEECH]
    noise = [QUIET + chance.uniform(-3, 3) for _ in range(50)]
    found = boundaries(Endpointer(400, 15_000), [*noise, *speech, *noise])
    assert found == [UtteranceStarted(1_000), UtteranceEnded(1_000, 1_000 + 104 * 20)]


@given(st.lists(st.floats(-96, 0), max_size=400))
def test_boundaries_alternate(levels: list[float]) -> None:
    """Whatever is heard: each start has an end, in order, no longer than the limits."""
    endpointer = Endpointer(100, 1_000)
    found = boundaries(endpointer, levels)
    if (last := endpointer.end()) is not None:
        found.append(last)
    for start, end in zip(found[::2], found[1::2], strict=True):
        assert isinstance(start, UtteranceStarted)
        assert isinstance(end, UtteranceEnded)
        assert start.at_ms == end.start_ms < end.end_ms <= endpointer.now_ms
        assert end.end_ms - end.start_ms <= 1_000
