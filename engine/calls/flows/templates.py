"""`{{contact.fName}}` in documents: filled in when they run, before they are read as shapes.

Works on decoded documents, so that no value can add structure to one.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from wire.errors import BadInput, from_decoder

Lookup = Callable[[str], Any]  # the value of a name, None when there is none
ROOTS = ("contact", "custom", "call", "vars", "answers", "dial", "record", "event", "secrets")
MAX_FILLED_BYTES = 1_000_000  # of what may be filled in; wire.tree lets far less through

_STEP = r"\.[A-Za-z0-9_\-]+"
_NAME = rf"(?:(?:{'|'.join(ROOTS)})(?:{_STEP})+|digits)"
_FIELD = re.compile(rf"\{{\{{\s*({_NAME})\s*\}}\}}")
_ANY = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def fill(document: bytes, values: Lookup) -> bytes:
    """Fill a document's strings; a value that is not there becomes empty. Raises BadInput."""
    try:
        decoded = msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise from_decoder(msgspec.DecodeError(str(error))) from None
    return msgspec.json.encode(fill_decoded(decoded, values))


def fill_decoded(document: Any, values: Lookup, *, typed: bool = False) -> Any:
    """Fill the strings of a decoded document.

    `typed`: a string that is one template and no more becomes the value itself, a number say.
    Raises BadInput, also when it would grow past MOST_BYTES.
    """
    found: dict[str, Any] = {}
    room = MAX_FILLED_BYTES
    for name in _names(document, 0):
        if name not in found:
            found[name] = values(name)
        room -= len(to_text(found[name]))
    if room < 0:
        raise BadInput("", f"larger than {MAX_FILLED_BYTES} bytes once filled in", "too_large")
    return _fill(document, found.get, typed)


def names(document: Any) -> Iterator[tuple[str, str]]:
    """List each template of a document: the path of its string, and what stands in the braces."""
    for path, string in _strings(document, "", 0):
        for match in _ANY.finditer(string):
            yield path, match[1].strip()


def is_name(name: str) -> bool:
    """Tell whether braces around a name are filled in."""
    return re.fullmatch(_NAME, name) is not None


def is_template(value: Any) -> bool:
    """Tell whether a value is a string with something to fill in."""
    return isinstance(value, str) and _FIELD.search(value) is not None


def to_text(value: Any) -> str:
    """Give a value as it is read: nothing as nothing, objects and lists as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | dict() | list():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)


def _names(document: Any, depth: int) -> Iterator[str]:
    for _path, string in _strings(document, "", depth):
        for match in _FIELD.finditer(string):
            yield match[1]


def _strings(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > 200:  # noqa: PLR2004 - far past any depth that wire.tree lets through
        raise BadInput("", "nested too deep", "too_deep")
    match value:
        case str():
            yield path, value
        case list():
            for place, each in enumerate(value):
                yield from _strings(each, f"{path}[{place}]", depth + 1)
        case dict():
            for key, each in value.items():
                yield from _strings(each, f"{path}.{key}" if path else key, depth + 1)
        case _:
            pass


def _fill(value: Any, values: Lookup, typed: bool) -> Any:
    match value:
        case str():
            whole = _FIELD.fullmatch(value) if typed else None
            if whole is not None:
                return values(whole[1])
            return _FIELD.sub(lambda match: to_text(values(match[1])), value)
        case list():
            return [_fill(each, values, typed) for each in value]
        case dict():
            return {key: _fill(each, values, typed) for key, each in value.items()}
        case _:
            return value
