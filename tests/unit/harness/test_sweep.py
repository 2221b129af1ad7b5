"""How tests find in a phone's audio that a part of a prompt is missing or was heard twice."""

from collections.abc import Iterable

import numpy as np
import pytest

from tests.harness.phones.audio import (
    FRAME_MS,
    FRAME_SAMPLES,
    Frame,
    assert_heard_in_order,
    skips_ms,
    sweep,
)

LENGTH_MS = 60_000
PROMPT = sweep(LENGTH_MS)
SILENCE = np.zeros(FRAME_SAMPLES, np.int16)


def heard(*moments_ms: Iterable[int], pause: int = 0) -> list[Frame]:
    """Return the frames of some parts of the prompt, with frames of silence between them."""
    frames: list[Frame] = []
    for part in moments_ms:
        starts = (moment * FRAME_SAMPLES // FRAME_MS for moment in part)
        sounds = [PROMPT[start : start + FRAME_SAMPLES] for start in starts]
        frames += [Frame(0, 0, 0, 0, samples) for samples in (*sounds, *[SILENCE] * pause)]
    return frames


def part(begin_ms: int, end_ms: int) -> range:
    return range(begin_ms, end_ms, FRAME_MS)


def test_a_prompt_that_stops_and_goes_on_is_heard_in_order() -> None:
    """Silence does not count, nor does a little that the PBX skips when it resumes."""
    assert_heard_in_order(heard(part(0, 4_000), part(4_100, 55_000), pause=50), LENGTH_MS)


@pytest.mark.parametrize(
    "parts",
    [
        [part(1_000, 4_000)],
        [part(0, 2_000), part(2_500, 4_000)],
        [part(0, 2_000), part(1_500, 4_000)],
        [part(0, 2_000), part(2_300, 4_000), part(4_300, 9_000)],
        [part(0, 20)],
    ],
    ids=["no beginning", "a gap", "a repetition", "small gaps", "nothing more"],
)
def test_other_prompts_are_not(parts: list[range]) -> None:
    with pytest.raises(AssertionError):
        assert_heard_in_order(heard(*parts), LENGTH_MS)


def test_skips_are_measured() -> None:
    """In both directions."""
    frames = heard(part(0, 2_000), part(3_000, 4_000), part(2_000, 3_000))
    skips = [round(each, -2) for each in skips_ms(frames, LENGTH_MS)]
    assert [each for each in skips if each] == [1_000, -2_000]
