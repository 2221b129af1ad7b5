"""WAV files that other programs can read, and the part of a file that a request asks for."""

import io
import wave

import pytest

from engine.recordings import HEADER_BYTES, Unsatisfiable, byte_range, wav_duration_ms, wav_header


@pytest.mark.parametrize("channels", [1, 2])
def test_a_header_describes_the_samples(channels: int) -> None:
    """16 bits, 8 kHz, and the right number of channels and samples."""
    data = bytes(range(64)) * channels * 10
    with wave.open(io.BytesIO(wav_header(channels, len(data)) + data)) as file:
        shape = (file.getnchannels(), file.getsampwidth(), file.getframerate())
        assert shape == (channels, 2, 8000)
        assert file.readframes(file.getnframes()) == data


def test_what_is_longer_than_a_header_can_say_is_still_a_file() -> None:
    """37 hours in stereo: players read on to the end."""
    assert len(wav_header(2, 5_000_000_000)) == HEADER_BYTES


def test_a_file_tells_its_length() -> None:
    """From its size alone."""
    assert wav_duration_ms(2, 44 + 8 * 4 * 1_500) == 1_500
    assert wav_duration_ms(1, 44 + 8 * 2 * 1_500) == 1_500
    assert wav_duration_ms(1, 0) == 0


@pytest.mark.parametrize(
    ("header", "part"),
    [
        ("bytes=0-9", (0, 10)),
        ("bytes=5-5", (5, 6)),
        ("bytes=90-", (90, 100)),
        ("bytes=90-1000", (90, 100)),
        ("bytes=-1", (99, 100)),
        ("bytes=-100", (0, 100)),
        ("bytes=-1000", (0, 100)),
        ("Bytes= 0-9 ", (0, 10)),
        ("", None),
        ("bytes=-", None),
        ("bytes=9-8", None),
        ("bytes=200-100", None),
        ("bytes=0-1,5-6", None),
        ("seconds=0-1", None),
        ("bytes=a-b", None),
        ("bytes=\u0661-", None),
    ],
)
def test_parts(header: str, part: tuple[int, int] | None) -> None:
    """One range is a part; what is not understood is all of the file."""
    assert byte_range(header, 100) == part


@pytest.mark.parametrize("header", ["bytes=-0", "bytes=-000", "bytes=100-", "bytes=100-200"])
def test_a_range_without_a_byte(header: str) -> None:
    """It cannot be satisfied, and nothing can of an empty file."""
    with pytest.raises(Unsatisfiable):
        byte_range(header, 100)
    for each in ("bytes=0-", "bytes=0-0", "bytes=-1"):
        with pytest.raises(Unsatisfiable):
            byte_range(each, 0)
