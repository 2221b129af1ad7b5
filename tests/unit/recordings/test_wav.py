"""WAV files: other programs can read the header."""

import io
import wave

import pytest

from engine.recordings import wav


@pytest.mark.parametrize("channels", [1, 2])
def test_a_header_describes_the_samples(channels: int) -> None:
    """16 bits, 8 kHz, and the right number of channels and samples."""
    data = bytes(range(64)) * channels * 10
    with wave.open(io.BytesIO(wav.header(channels, len(data)) + data)) as file:
        shape = (file.getnchannels(), file.getsampwidth(), file.getframerate())
        assert shape == (channels, 2, 8000)
        assert file.readframes(file.getnframes()) == data


def test_what_is_longer_than_a_header_can_say_is_still_a_file() -> None:
    """37 hours in stereo: players read on to the end."""
    assert len(wav.header(2, 5_000_000_000)) == wav.HEADER_BYTES


def test_a_file_tells_its_length() -> None:
    """From its size alone."""
    assert wav.duration_ms(2, 44 + 8 * 4 * 1_500) == 1_500
    assert wav.duration_ms(1, 44 + 8 * 2 * 1_500) == 1_500
    assert wav.duration_ms(1, 0) == 0
