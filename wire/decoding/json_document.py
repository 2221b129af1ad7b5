"""Reads JSON, repairs what is clear, and reports why a document is not valid."""

import re
from typing import Any

import msgspec

from wire.decoding.error_texts import NUMBER_TOO_LARGE
from wire.decoding.errors import BadInput, from_decoder

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# An escape of a pair, of half of a pair, or of something else: a backslash may escape a backslash.
_ESCAPE = re.compile(
    rb"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_REPLACEMENT = rb"\ufffd"
_OUT_OF_RANGE = ("Number out of range", "Integer value out of range")


def read_json(body: bytes, prefix: str = "") -> Any:
    """Decode JSON of any shape; raises BadInput."""
    try:
        return msgspec.json.decode(repaired(body))
    except NOT_JSON as error:
        raise json_error(error, prefix) from None


def repaired(body: bytes) -> bytes:
    """Return a document without a byte order mark, and without halves of surrogate pairs.

    Editors write the mark; what cuts a text may cut a pair, which becomes U+FFFD.
    """
    return _ESCAPE.sub(_repaired_escape, body.lstrip(_BYTE_ORDER_MARK))


def _repaired_escape(found: re.Match[bytes]) -> bytes:
    return _REPLACEMENT if found["half"] else found[0]


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
