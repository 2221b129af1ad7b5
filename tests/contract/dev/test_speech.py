"""Words of a phone: `switchroom dev call --say`."""

from pathlib import Path

import pytest
from rich.console import Console

from cli.phone import CallOptions, call_number
from dev.errors import BadOption, CommandFailed, ToolMissing
from dev.phone.g711 import RATE_HZ, sound_s
from dev.phone.speech import espeak, spoken

MIN_S, MAX_S = 0.5, 3
SPEAKS = """#!/usr/bin/env python3
import sys, wave
text = sys.stdin.read()
with wave.open(sys.argv[sys.argv.index("-w") + 1], "wb") as file:
    file.setnchannels(1)
    file.setsampwidth(2)
    file.setframerate(22_050)
    file.writeframes(bytes(2 * 22_050 * len(text)))
"""


def program(folder: Path, text: str) -> str:
    """Write a program that stands for espeak-ng."""
    path = folder / "espeak-ng"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def test_words_are_spoken_for_a_telephone(tmp_path: Path) -> None:
    """At its rate; the text is no argument, so one that begins with a hyphen is no option."""
    assert len(espeak("-x!", program(tmp_path, SPEAKS))) == 3 * RATE_HZ


@pytest.mark.parametrize("text", ["", "  ", "x" * 1_001, "\udcff"])
def test_what_cannot_be_spoken(text: str) -> None:
    """The option is named, and what is allowed."""
    with pytest.raises(BadOption, match="--say: expected"):
        spoken(text, str.encode)


def test_words_have_the_voice_of_the_lab() -> None:
    """Its neural voice, which needs no program."""
    heard = spoken("Sales, please.")
    assert MIN_S <= sound_s(heard) <= len(heard) / RATE_HZ <= MAX_S


def test_a_machine_without_speech(tmp_path: Path) -> None:
    """The program is named, with what to do; its own error is shown."""
    with pytest.raises(ToolMissing, match=r"espeak-ng is missing: .*--play a WAV"):
        espeak("x", str(tmp_path / "none"))
    with pytest.raises(CommandFailed, match="no voices"):
        espeak("x", program(tmp_path, "#!/bin/sh\necho no voices >&2; exit 1\n"))


async def test_a_caller_says_a_file_or_words(tmp_path: Path) -> None:
    """Not both."""
    options = CallOptions(
        "+47", "", 0, tmp_path, "+48", None, listen=False, sip="127.0.0.1:9", folder=tmp_path,
        words="x",
    )  # fmt: skip
    with pytest.raises(BadOption, match="--say: without --play"):
        await call_number(options, Console())
