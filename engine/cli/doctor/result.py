"""The result of a check."""

from typing import Literal

from msgspec import Struct

Level = Literal["OK", "WARN", "FAIL"]


class Finding(Struct, frozen=True):
    """One line: level, subject, result and advice."""

    level: Level
    subject: str
    text: str
    advice: str = ""


def ok(about: str, text: str) -> Finding:
    return Finding("OK", about, text)


def warning(about: str, text: str, advice: str) -> Finding:
    """Report a problem that does not stop calls, or an unknown result."""
    return Finding("WARN", about, text, advice)


def failure(about: str, text: str, advice: str) -> Finding:
    """Report a problem that stops calls."""
    return Finding("FAIL", about, text, advice)
