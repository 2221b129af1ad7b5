"""Frames, their level, and sample rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from speech.audio import SILENCE_DB, FrameCutter, Resampler, level_db


@given(st.lists(st.integers(0, 400), max_size=20))
def test_messages_of_any_size_become_frames(sizes: list[int]) -> None:
    """In order, without a byte missing; the rest waits."""
    cutter, sent, received = FrameCutter(8000), b"", b""
    for at, size in enumerate(sizes):
        message = bytes([at]) * (2 * size)
        sent += message
        for frame in cutter.cut(message):
            assert len(frame) == 320
            received += frame
    assert received == sent[: len(sent) - len(sent) % 320]


def test_levels() -> None:
    """A tone of full scale has -3 dB, half of it 6 dB less; digital silence the least."""
    tone = np.sin(2 * np.pi * 400 * np.arange(160) / 8000) * 32_767
    assert level_db(tone.astype("<i2").tobytes()) == pytest.approx(-3.0, abs=0.1)
    assert level_db((tone / 2).astype("<i2").tobytes()) == pytest.approx(-9.0, abs=0.1)
    assert level_db(bytes(320)) == SILENCE_DB


@pytest.mark.parametrize(
    ("rate", "target"), [(8000, 16_000), (24_000, 16_000), (16_000, 16_000), (22_050, 8000)]
)
@pytest.mark.parametrize("tone_hz", [300, 1000, 3000])
def test_a_tone_stays_a_tone(rate: int, target: int, tone_hz: int) -> None:
    """Of the same frequency and level, also if it arrives in pieces of odd sizes."""
    tone = (np.sin(2 * np.pi * tone_hz * np.arange(rate) / rate) * 10_000).astype("<i2").tobytes()
    resampler = Resampler(rate, target)
    pieces = [tone[at : at + 334] for at in range(0, len(tone), 334)]
    made = np.frombuffer(b"".join(map(resampler.resample, pieces)), "<i2").astype(float)
    assert len(made) == pytest.approx(target, abs=60)
    steady = made[500 : 500 + target // 2]
    spectrum = np.abs(np.fft.rfft(steady * np.hanning(len(steady))))
    peak = int(spectrum.argmax())
    assert peak * target / len(steady) == pytest.approx(tone_hz, abs=3)
    assert np.sqrt(2 * np.mean(steady**2)) == pytest.approx(10_000, rel=0.03)
    loudest = spectrum.max()
    spectrum[peak - 5 : peak + 6] = 0
    assert spectrum.max() < loudest / 200
