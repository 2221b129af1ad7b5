"""Reads JSON, repairs what is clear, and reports why a document is not valid."""

import json
import re
from collections import Counter
from typing import Any, NamedTuple

import msgspec

from wire.decoding.error_texts import NUMBER_TOO_LARGE
from wire.decoding.errors import BadInput, from_decoder

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Texts, escapes of pairs, and other escapes, up to half of a pair or the end: a backslash may
# escape a backslash. Nothing is tried twice, so the time is linear.
_UP_TO_HALF = re.compile(
    rb"((?:[^\\]++|\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\(?!u[dD][89a-fA-F][0-9a-fA-F]{2})(?s:.))*+)(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})?"
)
_REPLACEMENT = rb"\ufffd"
_OUT_OF_RANGE = ("Number out of range", "Integer value out of range")


def read_json(body: bytes, prefix: str = "") -> Any:
    """Decode JSON of any shape; raises BadInput."""
    try:
        return msgspec.json.decode(repaired(body))
    except NOT_JSON as error:
        raise json_error(error, prefix) from None


def check_unique(body: bytes, prefix: str = "") -> None:
    """Raise BadInput if an object of a document has a name twice; the document is valid JSON.

    Readers differ in which of the two values they take (RFC 8259, section 4).
    """
    repeated: tuple[list[tuple[str, Any]], dict[str, Any]] | None = None

    def as_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        found = dict(members)
        if len(found) < len(members):
            repeated = members, found
        return found

    text = body.lstrip(_BYTE_ORDER_MARK).decode(errors="replace")
    try:  # as floats: Python rejects an integer of thousands of digits
        document = json.loads(text, object_pairs_hook=as_object, parse_int=float)
    except (ValueError, RecursionError):  # the decoder has the reason
        return
    if repeated is not None:
        members, holder = repeated  # the outermost of its branch, so it is in the document
        name = Counter(name for name, _ in members).most_common(1)[0][0]
        raise BadInput(_path_to(holder, document, prefix, name), "given twice in its object")


class _Place(NamedTuple):
    """Where a value is: in which other place, under which name or index."""

    value: Any
    outer: "_Place | None"
    step: str | int


def _path_to(holder: dict[str, Any], document: Any, prefix: str, name: str) -> str:
    """Return the path of a member of an object that is somewhere in a document."""
    pending = [_Place(document, None, prefix)]
    while pending:
        place = pending.pop()
        value = place.value
        if value is holder:
            return _path(_Place(None, place, name))
        if isinstance(value, dict):
            pending += [_Place(each, place, key) for key, each in value.items() if each]
        elif isinstance(value, list):
            pending += [_Place(each, place, index) for index, each in enumerate(value) if each]
    return prefix


def _path(place: _Place | None) -> str:
    steps: list[str | int] = []
    while place is not None:
        steps.append(place.step)
        place = place.outer
    path = str(steps.pop())
    for step in reversed(steps):
        separator = "." if path else ""
        path += f"[{step}]" if isinstance(step, int) else f"{separator}{step}"
    return path


def repaired(body: bytes) -> bytes:
    """Return a document without a byte order mark, and without halves of surrogate pairs.

    Editors write the mark; what cuts a text may cut a pair, which becomes U+FFFD.
    """
    return _UP_TO_HALF.sub(_repaired_escape, body.lstrip(_BYTE_ORDER_MARK))


def _repaired_escape(found: re.Match[bytes]) -> bytes:
    return found[1] + _REPLACEMENT if found["half"] else found[0]


def is_out_of_range(error: Exception) -> bool:
    """Return whether a number exceeds the range of JSON's numbers here, whatever its field."""
    return str(error).startswith(_OUT_OF_RANGE)


def json_error(error: Exception, prefix: str) -> BadInput:
    """Convert an error of the decoder in NOT_JSON that is not about the shape."""
    if isinstance(error, UnicodeDecodeError):
        return BadInput(prefix, "not UTF-8")
    if isinstance(error, RecursionError):
        return BadInput(prefix, "nested too deep", "too_deep")
    fault = from_decoder(msgspec.DecodeError(str(error)), prefix)
    if is_out_of_range(error):  # the decoder reports no field where any is allowed: `[...]`
        return BadInput(fault.path.partition("[...]")[0].rstrip("."), NUMBER_TOO_LARGE)
    return fault
