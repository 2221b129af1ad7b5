"""Bad input, told so that its sender can mend it: where it is, what is wrong, what is allowed."""

import re
from typing import Any

import msgspec

from wire.allowed_fields import allowed_fields
from wire.patterns import PATTERNS

_AT = re.compile(r"^(?P<text>.*?)(?: - at `(?:key` in `)?\$(?P<path>.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"(?:unknown|required) field `(?P<field>[^`]*)`")


class BadInput(ValueError):
    """One fault in what was sent: its path (`action.data.audioUrl`) and what is allowed there."""

    def __init__(self, path: str, message: str, code: str = "invalid") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message
        self.code = code


class InputErrors(ValueError):
    """Several faults at once, each with its place."""

    def __init__(self, faults: tuple[BadInput, ...]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.errors = faults


def from_decoder(
    error: msgspec.DecodeError, prefix: str = "", shape: Any = None, given: Any = None
) -> BadInput:
    """Turn a decoder's words into a path and a message; a field named in them joins the path.

    `shape`: what was read of what was `given`, so that one that is not known can be told what is.
    """
    match = _AT.match(str(error))
    text, path = (match["text"], match["path"] or "") if match else (str(error), "")
    steps = [prefix, path.lstrip(".")]
    if found := _FIELD.search(text):
        steps.append(found["field"])
    is_unknown = "unknown field" in text and shape is not None
    known = ", ".join(allowed_fields(shape, given, path)) if is_unknown else ""
    more = f"; one of {known}" if known else ""
    return BadInput(".".join(step for step in steps if step), f"{_plain_message(text)}{more}")


def _plain_message(text: str) -> str:
    for pattern, meaning in PATTERNS.items():
        if f"matching regex {pattern!r}" in text:
            return f"expected {meaning}"
    return text
