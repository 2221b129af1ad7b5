"""`{{contact.fName}}` in a flow: filled in before the flow is read as a tree."""

import re
from typing import Any

import msgspec

from wire.errors import BadInput, from_decoder

_FIELD = re.compile(r"\{\{\s*contact\.([A-Za-z0-9_]+)\s*\}\}")

MOST_BYTES = 1_000_000  # of what may be filled in; wire.tree lets far less through


def fill(document: bytes, contact: dict[str, Any]) -> bytes:
    """Fill a flow's strings with the contact's fields; a field it lacks becomes empty.

    Works on the decoded document, so that no field can add structure to it. Raises BadInput, also
    when it would grow past MOST_BYTES.
    """
    longest = max((len(_text(each)) for each in contact.values()), default=0)
    if len(document) + document.count(b"{{") * longest > MOST_BYTES:
        raise BadInput("", f"larger than {MOST_BYTES} bytes once filled in", "too_large")
    try:
        decoded = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise from_decoder(msgspec.DecodeError(str(error))) from None
    return msgspec.json.encode(_filled(decoded, contact, 0))


def _filled(value: Any, contact: dict[str, Any], depth: int) -> Any:
    if depth > 200:  # noqa: PLR2004 - far past any depth that wire.tree lets through
        raise BadInput("", "nested too deep", "too_deep")
    match value:
        case str():
            return _FIELD.sub(lambda match: _text(contact.get(match[1])), value)
        case list():
            return [_filled(each, contact, depth + 1) for each in value]
        case dict():
            return {key: _filled(each, contact, depth + 1) for key, each in value.items()}
        case _:
            return value


def _text(value: Any) -> str:
    return "" if value is None else str(value)
