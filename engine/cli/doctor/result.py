"""The result of a check, and the part of docs/troubleshooting.md that says more."""

from typing import Literal

from msgspec import Struct

from wire.programs.docs_address import page_link

Level = Literal["OK", "WARN", "FAIL"]
Topic = Literal[
    "settings", "certificates", "store", "node", "refer", "ami", "archive", "media-folder",
    "speech", "engine", "transport",
]  # fmt: skip


class Finding(Struct, frozen=True):
    """One line: level, subject, result, advice, and where the docs say more."""

    level: Level
    subject: str
    text: str
    advice: str = ""
    link: str = ""


def ok(about: str, text: str) -> Finding:
    return Finding("OK", about, text)


def warning(topic: Topic, about: str, text: str, advice: str) -> Finding:
    """Report a problem that does not stop calls, or an unknown result."""
    return Finding("WARN", about, text, advice, page_link("troubleshooting", topic))


def failure(topic: Topic, about: str, text: str, advice: str) -> Finding:
    """Report a problem that stops calls."""
    return Finding("FAIL", about, text, advice, page_link("troubleshooting", topic))
