"""Reads JSON, repairs what is clear, and reports why a document is not valid."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from wire.decoding.error_texts import NUMBER_TOO_LARGE
from wire.decoding.errors import BadInput, from_decoder

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Half of a surrogate pair, unless its backslash is escaped.
_HALF = re.compile(rb"\\u[dD](?:(?P<high>[89aAbB])|[c-fC-F])[0-9a-fA-F]{2}")
MAX_HALVES = 2_000  # with those of pairs: what more of them are, costs a loop too much time
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

    Editors write the mark; what cuts a text may cut a pair, which becomes U+FFFD. Of a document
    with more than MAX_HALVES, the rest stays as it is, which no decoder accepts.
    """
    body = body.lstrip(_BYTE_ORDER_MARK)
    pieces, begin = list[bytes](), 0
    for at in _single_halves(body):
        pieces += [body[begin:at], _REPLACEMENT]
        begin = at + len(_REPLACEMENT)
    return b"".join((*pieces, body[begin:])) if pieces else body


def _single_halves(body: bytes) -> Iterator[int]:
    """Find where halves without their other half begin."""
    seen, high = 0, -1  # where the last one ended, and where a high one began that may be single
    for found in islice(_HALF.finditer(body), MAX_HALVES):
        before, is_next = body[seen : found.start()], found.start() == high + len(found[0])
        seen = found.end()
        if (len(before) - len(before.rstrip(b"\\"))) % 2:
            continue  # its backslash is a letter
        if found["high"]:
            if high >= 0:
                yield high
            high = found.start()
        elif high >= 0 and is_next:
            high = -1
        else:
            if high >= 0:
                yield high
            yield found.start()
            high = -1
    if high >= 0:
        yield high


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
