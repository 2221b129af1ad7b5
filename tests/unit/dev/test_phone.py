"""What the caller of the lab sends: keys with pauses, and the sound of a file."""

import wave
from array import array
from pathlib import Path

import pytest
from rich.console import Console

from cli.phone import CallOptions, call_number
from dev.errors import BadOption
from dev.phone.caller import Pressed, strokes
from dev.phone.g711 import RATE_HZ, ULAW_VALUES, encoded, read_wav


def test_a_digit_may_follow_a_pause() -> None:
    """As Twilio writes it: w is half a second; W is a whole one."""
    assert [*strokes(Pressed("1w2WwW3#w", 0))] == [(0, "1"), (0.5, "2"), (2.5, "3"), (0, "#")]


def test_codes_and_samples_are_inverse() -> None:
    """Each value has its own code again, and a sample the nearest one."""
    assert all(ULAW_VALUES[encoded(value)] == value for value in ULAW_VALUES)
    assert ULAW_VALUES[encoded(32_767)] == max(ULAW_VALUES)
    assert ULAW_VALUES[encoded(-32_768)] == min(ULAW_VALUES)
    assert abs(ULAW_VALUES[encoded(1_000)] - 1_000) < 32


def write(path: Path, samples: list[int], rate_hz: int, channels: int, width: int = 2) -> Path:
    """Write a WAV file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate_hz)
        file.writeframes(array("h", samples).tobytes())
    return path


def test_a_file_of_any_rate_is_read(tmp_path: Path) -> None:
    """Its length stays; two channels are mixed."""
    stereo = write(tmp_path / "stereo.wav", [4_000, 2_000] * 4_410, 44_100, 2)
    found = read_wav(stereo)
    assert len(found) == RATE_HZ // 10
    assert {abs(ULAW_VALUES[code] - 3_000) < 100 for code in found} == {True}
    assert len(read_wav(write(tmp_path / "mono.wav", [0] * 80, RATE_HZ, 1))) == 80


@pytest.mark.parametrize("kind", ["text", "absent", "bytes"])
async def test_another_file_is_an_error_before_the_call(tmp_path: Path, kind: str) -> None:
    """It names the option and the file."""
    path = tmp_path / "message.wav"
    if kind == "text":
        path.write_text("no sound")
    if kind == "bytes":
        write(path, [0] * 80, RATE_HZ, 1, width=1)
    at = "127.0.0.1:9"
    options = CallOptions("+47", "", 0, path, "+48", None, listen=False, sip=at, folder=tmp_path)
    with pytest.raises(BadOption, match=f"--play: {path}: "):
        await call_number(options, Console())


async def test_a_wrong_key_is_an_error(tmp_path: Path) -> None:
    """Pauses are named beside the keys."""
    at = "127.0.0.1:9"
    options = CallOptions("+47", "1x", 0, None, "+48", None, listen=False, sip=at, folder=tmp_path)
    with pytest.raises(BadOption, match=r"--digits: X is on no key; .* w and W"):
        await call_number(options, Console())


async def test_the_place_of_no_file_is_an_error(tmp_path: Path) -> None:
    """It names the option that is missing."""
    at = "127.0.0.1:9"
    options = CallOptions("+47", "2p", 0, None, "+48", None, listen=False, sip=at, folder=tmp_path)
    with pytest.raises(BadOption, match="--digits: p is where --play or --say speaks"):
        await call_number(options, Console())
