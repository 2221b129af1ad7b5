"""What a check found."""

from typing import Literal

from msgspec import Struct

Level = Literal["OK", "WARN", "FAIL"]


class Finding(Struct, frozen=True):
    """One line: how bad, about what, what was found, what to do about it."""

    level: Level
    subject: str
    text: str
    advice: str = ""


def ok(about: str, text: str) -> Finding:
    """Say that it is as it should be."""
    return Finding("OK", about, text)


def warning(about: str, text: str, advice: str) -> Finding:
    """Say that it works, but not well, or that it can't be told."""
    return Finding("WARN", about, text, advice)


def failure(about: str, text: str, advice: str) -> Finding:
    """Say that it can't work like this."""
    return Finding("FAIL", about, text, advice)
