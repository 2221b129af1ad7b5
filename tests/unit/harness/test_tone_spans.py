"""Tones in received RTP: judged by sequence numbers and timestamps, whenever packets arrive."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.harness.phones.audio import (
    FRAME_MS,
    FRAME_SAMPLES,
    Frame,
    assert_all_forwarded,
    assert_sweep_heard_once,
    assert_uninterrupted,
    packets_lost,
    sweep,
    tone,
    tones,
)

HZ, OTHER_HZ = 600, 900
SILENT = np.zeros(FRAME_SAMPLES, np.int16)


def received(*pitches: int, lost: Sequence[int] = (), late_ms: int = 0) -> list[Frame]:
    """Return a frame for each pitch, 0 is silence; `lost` do not arrive, the others are late."""
    sounds = [tone(hz) if hz else SILENT for hz in pitches]
    return [
        Frame(number * (FRAME_MS + late_ms), 1, number & 0xFFFF, number * FRAME_SAMPLES, samples)
        for number, samples in enumerate(sounds)
        if number not in lost
    ]


def after_pause(frames: Sequence[Frame], pause_ms: int, at: int) -> list[Frame]:
    """Return the frames as if nothing was sent for some time before one of them."""
    return [
        Frame(
            each.at_ms + pause_ms * (number >= at),
            each.stream,
            each.sequence,
            each.timestamp + 8 * pause_ms * (number >= at),
            each.samples,
        )
        for number, each in enumerate(frames)
    ]


@pytest.mark.parametrize("late_ms", [0, 180, 5_000])
def test_late_packets_do_not_end_a_tone(late_ms: int) -> None:
    """However late each one arrives, or is read."""
    [heard] = tones(received(*[HZ] * 50, late_ms=late_ms), [HZ])
    assert (heard.length_ms, heard.missing_ms, heard.paused_ms) == (1_000, 0, 0)


def test_lost_packets_count_for_the_length() -> None:
    """And are known: a tone that is as long as it should be may have lost some."""
    [heard] = tones(received(*[HZ] * 50, lost=[10, 11, 30]), [HZ])
    assert (heard.length_ms, heard.missing_ms) == (1_000, 60)
    assert packets_lost(received(*[HZ] * 50, lost=[10, 11, 30])) == 3


def test_many_lost_packets_end_a_tone() -> None:
    """A PBX that withholds audio passes its sequence numbers on."""
    first, second = tones(received(*[HZ] * 50, lost=range(10, 14)), [HZ])
    assert (first.length_ms, second.length_ms) == (200, 720)


def test_another_sound_ends_a_tone() -> None:
    """Unless it is as short as the edge of a sound."""
    first, second = tones(received(*[HZ] * 10, *[OTHER_HZ] * 4, *[HZ] * 10), [HZ])
    assert (first.length_ms, second.length_ms) == (200, 200)
    [heard] = tones(received(*[HZ] * 10, *[0] * 3, *[HZ] * 10), [HZ])
    assert (heard.length_ms, heard.missing_ms) == (460, 60)


@pytest.mark.parametrize(("pause_ms", "count"), [(400, 1), (1_100, 2)])
def test_a_long_pause_ends_a_tone(pause_ms: int, count: int) -> None:
    """By the timestamps of the PBX; a shorter one is that of a busy machine."""
    heard = tones(after_pause(received(*[HZ] * 50), pause_ms, 25), [HZ])
    assert len(heard) == count
    assert sum(each.length_ms for each in heard) == 1_000
    assert sum(each.paused_ms for each in heard) == (pause_ms if count == 1 else 0)


def test_a_new_stream_continues_a_tone() -> None:
    """The PBX begins one when it bridges a leg; its numbers start at another value."""
    frames = received(*[HZ] * 20)
    moved = [
        Frame(each.at_ms, 2, each.sequence + 500, each.timestamp + 9, each.samples)
        for each in frames[10:]
    ]
    [heard] = tones([*frames[:10], *moved], [HZ])
    assert (heard.length_ms, heard.missing_ms, heard.paused_ms) == (400, 0, 0)


def test_sequence_numbers_wrap() -> None:
    frames = [
        Frame(each.at_ms, 1, (each.sequence + 65_530) & 0xFFFF, each.timestamp, each.samples)
        for each in received(*[HZ] * 20)
    ]
    [heard] = tones(frames, [HZ])
    assert (heard.length_ms, heard.missing_ms) == (400, 0)


def test_an_uninterrupted_tone() -> None:
    """It has no missing packet; one that is forwarded has no pause either."""
    whole = received(*[HZ] * 50)
    assert_all_forwarded(tones(after_pause(whole, 13, 25), [HZ]))
    paused = after_pause(whole, 200, 25)
    assert_all_forwarded(tones(whole, [HZ]))
    assert_uninterrupted(tones(paused, [HZ]))
    with pytest.raises(AssertionError):
        assert_all_forwarded(tones(paused, [HZ]))
    for bad in (received(*[HZ] * 50, lost=[7]), received(*[HZ] * 9, 0, *[HZ] * 9), []):
        with pytest.raises(AssertionError):
            assert_uninterrupted(tones(bad, [HZ]))


def test_a_sweep_that_is_heard_once() -> None:
    """In order and whole, whatever silence is in between."""
    samples = sweep(4_000).reshape(-1, FRAME_SAMPLES)
    frames = [
        Frame(number, 1, number, number * FRAME_SAMPLES, each)
        for number, each in enumerate([*samples[:90], *[SILENT] * 40, *samples[90:]])
    ]
    assert_sweep_heard_once(frames, 4_000)
    repeated = [*frames[:60], *frames[55:]]
    skipped = [*frames[:50], *frames[55:]]
    for bad in (repeated, skipped, frames[:150], [*frames[:50], *frames[51:]]):
        with pytest.raises(AssertionError):
            assert_sweep_heard_once(bad, 4_000)
