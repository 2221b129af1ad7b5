"""Reads JSON, and reports why a document is not valid."""

import json
from typing import Any

import msgspec

from wire.decoding.error_texts import LONE_SURROGATE, NUMBER_TOO_LARGE, TRUNCATED
from wire.decoding.errors import BadInput, from_decoder

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_OUT_OF_RANGE = ("Number out of range", "Integer value out of range")


def read_json(body: bytes, prefix: str = "") -> Any:
    """Decode JSON of any shape; raises BadInput."""
    try:
        return msgspec.json.decode(body)
    except NOT_JSON as error:
        raise json_error(error, body, prefix) from None


def is_out_of_range(error: Exception) -> bool:
    """Return whether a number exceeds the range of JSON's numbers here, whatever its field."""
    return str(error).startswith(_OUT_OF_RANGE)


def json_error(error: Exception, body: bytes, prefix: str) -> BadInput:
    """Convert an error of the decoder in NOT_JSON that is not about the shape."""
    if isinstance(error, UnicodeDecodeError):
        return BadInput(prefix, "not UTF-8")
    if isinstance(error, RecursionError):
        return BadInput(prefix, "nested too deep", "too_deep")
    fault = from_decoder(msgspec.DecodeError(str(error)), prefix)
    if is_out_of_range(error):  # the decoder reports no field where any is allowed: `[...]`
        return BadInput(fault.path.partition("[...]")[0].rstrip("."), NUMBER_TOO_LARGE)
    # msgspec 0.22 says truncated, too, where a text ends with half of a surrogate pair.
    if fault.message == TRUNCATED and _is_complete(body):
        return BadInput(prefix, LONE_SURROGATE)
    return fault


def _is_complete(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
