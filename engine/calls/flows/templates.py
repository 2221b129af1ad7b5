"""Fills in templates such as `{{contact.fName}}` when a document runs, before it is parsed.

It works on decoded documents, so that a value can't add structure to one.
"""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec

from base.limit import Limit
from wire.decoding.errors import BadInput
from wire.decoding.json_errors import read_json

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
MAX_FILLED_BYTES: Annotated[
    int,
    Limit(
        "call",
        "`invalid_action`, or the node is skipped",
        "Bytes of all values that are filled in: of a node of a flow, a tree, or a request's URL, "
        "or its headers.",
    ),
] = 65_536  # as many as a whole tree has (`wire.tree.Limits`)
MAX_DEPTH = 200  # wire.tree accepts far less

_STEP = r"\.[A-Za-z0-9_\-]+"
_NAME = rf"(?:(?:{'|'.join(ROOTS)})(?:{_STEP})+|digits|speech)"
_FIELD = re.compile(rf"\{{\{{\s*({_NAME})\s*\}}\}}")
_OPEN, _CLOSE = "{{", "}}"


def fill(document: bytes, lookup: Lookup) -> bytes:
    """Fill in the strings of a JSON document; a missing value becomes empty. Raises BadInput."""
    return msgspec.json.encode(fill_decoded(read_json(document), lookup))


def fill_decoded(
    document: Any, lookup: Lookup, *, typed: bool = False, max_bytes: int = MAX_FILLED_BYTES
) -> Any:
    """Fill in the strings of a decoded document.

    `typed`: a string that consists of one template becomes the value itself, such as a number.
    Raises BadInput, also when the values exceed `max_bytes`.
    """
    return _Filling(lookup, max_bytes, typed=typed).of(document, 0)


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


def _is_plain(value: Any) -> bool:
    """Return whether there is no template in a text: its path, which may be long, is not needed."""
    return isinstance(value, str) and _OPEN not in value


def _strings(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the texts that may have templates, with their paths."""
    if depth > MAX_DEPTH:
        raise BadInput("", "nested too deep", "too_deep")
    match value:
        case str():
            yield path, value
        case list():
            for index, each in enumerate(value):
                if not _is_plain(each):
                    yield from _strings(each, f"{path}[{index}]", depth + 1)
        case dict():
            for key, each in value.items():
                if not _is_plain(each):
                    yield from _strings(each, f"{path}.{key}" if path else key, depth + 1)
        case _:
            pass


class _Filling:
    """Fills in one document: a value is looked up and becomes text once, however often it occurs.

    Each occurrence counts for the limit when it is reached, so that the work is limited, too.
    """

    def __init__(self, lookup: Lookup, max_bytes: int, *, typed: bool) -> None:
        self._lookup = lookup
        self._max_bytes = self._left = max_bytes
        self._typed = typed
        self._found: dict[str, tuple[Any, str]] = {}  # each value, and its text

    def of(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise BadInput("", "nested too deep", "too_deep")
        match value:
            case str():
                whole = _FIELD.fullmatch(value) if self._typed else None
                return _FIELD.sub(self._text, value) if whole is None else self._value(whole[1])[0]
            case list():
                return [self.of(each, depth + 1) for each in value]
            case dict():
                return {key: self.of(each, depth + 1) for key, each in value.items()}
            case _:
                return value

    def _text(self, match: re.Match[str]) -> str:
        return self._value(match[1])[1]

    def _value(self, name: str) -> tuple[Any, str]:
        if name not in self._found:
            value = self._lookup(name)
            self._found[name] = value, to_text(value)
        found = self._found[name]
        self._left -= len(found[1])  # characters: as many bytes at least
        if self._left < 0:
            text = f"larger than {self._max_bytes} bytes once filled in"
            raise BadInput("", text, "too_large")
        return found
