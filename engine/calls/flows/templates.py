"""Fills in templates such as `{{contact.fName}}` when a document runs, before it is parsed.

It works on decoded documents, so that a value can't add structure to one.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from wire.decoding.errors import BadInput
from wire.decoding.json_document import read_json

Lookup = Callable[[str], Any]  # returns the value of a name, or None
ROOTS = (
    "contact",
    "custom",
    "call",
    "vars",
    "answers",
    "dial",
    "record",
    "stream",
    "event",
    "secrets",
)
MAX_FILLED_BYTES = 1_000_000  # of all values of a document; wire.tree accepts far less
MAX_DEPTH = 200  # wire.tree accepts far less

_STEP = r"\.[A-Za-z0-9_\-]+"
_NAME = rf"(?:(?:{'|'.join(ROOTS)})(?:{_STEP})+|digits|speech)"
_FIELD = re.compile(rf"\{{\{{\s*({_NAME})\s*\}}\}}")
_OPEN, _CLOSE = "{{", "}}"


def fill(document: bytes, lookup: Lookup) -> bytes:
    """Fill in the strings of a JSON document; a missing value becomes empty. Raises BadInput."""
    return msgspec.json.encode(fill_decoded(read_json(document), lookup))


def fill_decoded(document: Any, lookup: Lookup, *, typed: bool = False) -> Any:
    """Fill in the strings of a decoded document.

    `typed`: a string that consists of one template becomes the value itself, such as a number.
    Raises BadInput, also when the values exceed MAX_FILLED_BYTES.
    """
    found: dict[str, Any] = {}
    size = 0
    for name in _names(document, 0):
        if name not in found:
            found[name] = lookup(name)
        size += len(to_text(found[name]))
    if size > MAX_FILLED_BYTES:
        raise BadInput("", f"larger than {MAX_FILLED_BYTES} bytes once filled in", "too_large")
    return _fill(document, found.get, typed)


def names(document: Any) -> Iterator[tuple[str, str]]:
    """Yield each template of a document: the path of its string, and the text in its braces."""
    for path, string in _strings(document, "", 0):
        for start, end in _templates(string):
            yield path, string[start + len(_OPEN) : end].strip()


def unclosed(document: Any) -> Iterator[str]:
    """Yield the path of each string with opening braces that no closing ones follow."""
    for path, string in _strings(document, "", 0):
        rest = max((end + len(_CLOSE) for _, end in _templates(string)), default=0)
        if string.find(_OPEN, rest) >= 0:
            yield path


def is_name(name: str) -> bool:
    """Return whether a name is valid in a template."""
    return re.fullmatch(_NAME, name) is not None


def is_template(value: Any) -> bool:
    """Return whether a value is a string that contains a template."""
    return isinstance(value, str) and _FIELD.search(value) is not None


def to_text(value: Any) -> str:
    """Convert a value to text: None is empty; booleans, objects and lists become JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | dict() | list():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)


def _templates(text: str) -> Iterator[tuple[int, int]]:
    """Yield where templates open and close, in time that grows with the text only."""
    start = text.find(_OPEN)
    while start >= 0 and (end := text.find(_CLOSE, start + len(_OPEN))) >= 0:
        yield start, end
        start = text.find(_OPEN, end + len(_CLOSE))


def _names(document: Any, depth: int) -> Iterator[str]:
    for _path, string in _strings(document, "", depth):
        for match in _FIELD.finditer(string):
            yield match[1]


def _strings(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > MAX_DEPTH:
        raise BadInput("", "nested too deep", "too_deep")
    match value:
        case str():
            yield path, value
        case list():
            for index, each in enumerate(value):
                yield from _strings(each, f"{path}[{index}]", depth + 1)
        case dict():
            for key, each in value.items():
                yield from _strings(each, f"{path}.{key}" if path else key, depth + 1)
        case _:
            pass


def _fill(value: Any, lookup: Lookup, typed: bool) -> Any:
    match value:
        case str():
            whole = _FIELD.fullmatch(value) if typed else None
            if whole is not None:
                return lookup(whole[1])
            return _FIELD.sub(lambda match: to_text(lookup(match[1])), value)
        case list():
            return [_fill(each, lookup, typed) for each in value]
        case dict():
            return {key: _fill(each, lookup, typed) for key, each in value.items()}
        case _:
            return value
