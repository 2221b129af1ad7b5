"""The result of a check, with its error code, whose page says more."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from wire.docs_address import error_page_link

Level = Literal["OK", "WARN", "FAIL"]
_HARMLESS_IN_LAB = {"node_drops_audio", "no_espeak"}


class Finding(Struct, frozen=True):
    """One line: level, subject, result, advice, the code, and its page in the docs."""

    level: Level
    subject: str
    text: str
    advice: str = ""
    code: str = ""
    link: str = ""


def in_lab(finding: Finding) -> Finding:
    """Return what a lab shows: what `switchroom dev` itself has chosen is no fault there."""
    if finding.code not in _HARMLESS_IN_LAB:
        return finding
    return replace(finding, advice=f"harmless in a lab; in production: {finding.advice}")


def ok(about: str, text: str) -> Finding:
    return Finding("OK", about, text)


def warning(code: str, about: str, text: str, advice: str) -> Finding:
    """Report a problem that does not stop calls, or an unknown result."""
    return Finding("WARN", about, text, advice, code, error_page_link(code))


def failure(code: str, about: str, text: str, advice: str) -> Finding:
    """Report a problem that stops calls."""
    return Finding("FAIL", about, text, advice, code, error_page_link(code))
