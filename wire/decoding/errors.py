"""Errors in input: their path, the problem, and the allowed fields or values."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from wire.decoding.error_texts import UNKNOWN_FIELD, plain_text

MAX_ERRORS = 50  # reported of a document: more would take long to find, and help no reader
MAX_TEXT_CHARS = 1_024  # of a message: it may repeat a value, and longer patterns do not exist
_STEP = re.compile(r"\[(?P<index>\d+|\.\.\.)\]|\.(?P<key>[^.\[]+)")
_SOME = ""  # the decoder does not report which value of a mapping failed
type_info = cache(inspect.type_info)
_SEVERAL = (inspect.ListType, inspect.VarTupleType)


def allowed_fields(shape: Any, given: Any, path: str) -> tuple[str, ...]:
    """Return the allowed fields of an object in a document, JSON or decoded; empty: unknown.

    `path` locates the object in the decoder's notation (`.action.data`).
    """
    try:
        document = msgspec.json.decode(given) if isinstance(given, bytes) else given
    except (msgspec.DecodeError, RecursionError):
        return ()
    kind: inspect.Type | None = one_type(type_info(shape), document)
    for step in _steps(path):
        kind = _below(kind, step)
        document = _inside(document, step)
        kind = kind and one_type(kind, document)
    if not isinstance(kind, inspect.StructType):
        return ()
    tag = (kind.tag_field,) if kind.tag_field else ()
    return (*tag, *(field.encode_name for field in kind.fields))


def _steps(path: str) -> Iterator[str | int]:
    for step in _STEP.finditer(path):
        key, index = step["key"], step["index"]
        yield key if index is None else _SOME if index == "..." else int(index)


def _below(kind: inspect.Type | None, step: str | int) -> inspect.Type | None:
    match kind:
        case inspect.StructType(fields=fields):
            return next((each.type for each in fields if each.encode_name == step), None)
        case inspect.DictType(value_type=value):
            return value
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return item
        case _:
            return None


def _inside(document: Any, step: str | int) -> Any:
    try:
        return document[step]
    except (KeyError, IndexError, TypeError):
        return None


def one_type(kind: inspect.Type, document: Any) -> inspect.Type | None:
    """Choose the matching type of a union, by an object's tag."""
    if isinstance(kind, inspect.Metadata):
        return one_type(kind.type, document)
    if not isinstance(kind, inspect.UnionType):
        return kind
    if isinstance(document, dict) and (tagged := _tagged(kind, document)):
        return tagged
    plain = (each.type if isinstance(each, inspect.Metadata) else each for each in kind.types)
    return next((each for each in plain if _matches(each, document)), None)


_tags: dict[int, tuple[inspect.UnionType, str | None, dict[Any, inspect.StructType]]] = {}


def _tagged(union: inspect.UnionType, document: dict[Any, Any]) -> inspect.StructType | None:
    """Return the type that an object's tag names, if it has one."""
    known = _tags.get(id(union))
    if known is None:
        kinds = [each for each in union.types if isinstance(each, inspect.StructType)]
        name = next((each.tag_field for each in kinds if each.tag_field), None)
        by_tag = {each.tag: each for each in kinds if each.tag_field == name}
        known = _tags[id(union)] = (union, name, by_tag)
    _, name, by_tag = known
    tag = document.get(name)
    return by_tag.get(tag) if name is not None and isinstance(tag, str) else None


def _matches(kind: inspect.Type, document: Any) -> bool:
    if isinstance(kind, inspect.StructType) and isinstance(document, dict):
        return not kind.tag_field or document.get(kind.tag_field) == kind.tag
    if isinstance(kind, inspect.DictType):
        return isinstance(document, dict)
    return isinstance(kind, _SEVERAL) and isinstance(document, list)


_AT = " - at `"  # before the path, which is last: the text may repeat a value that has this, too
_PATH = re.compile(r"(?:key` in `)?\$(?P<path>.*)`", re.DOTALL)
_FIELD = re.compile(r"(?:unknown|required) field `(?P<field>[^`]*)`")


class BadInput(ValueError):
    """One error in the input: its path (`action.data.audioUrl`) and what is allowed there."""

    def __init__(self, path: str, message: str, code: str = "invalid") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message
        self.code = code


class InputErrors(BadInput):
    """Several errors, each with its path; its own path, message and code are the first one's."""

    def __init__(self, errors: tuple[BadInput, ...]) -> None:
        super().__init__(errors[0].path, errors[0].message, errors[0].code)
        self.errors = errors

    def __str__(self) -> str:
        return "; ".join(map(str, self.errors))


def errors_in(error: BadInput) -> tuple[BadInput, ...]:
    """Return the single errors of one error or several."""
    return error.errors if isinstance(error, InputErrors) else (error,)


def raise_errors(errors: Sequence[BadInput]) -> None:
    """Raise the error, or all of them as one; return if there are none."""
    if len(errors) > 1:
        raise InputErrors(tuple(errors))
    if errors:
        raise errors[0]


class ErrorCollector:
    """Collects the errors of several checks, so that all of them are reported at once.

    collector = ErrorCollector()
    with collector.check():
        check_url(...)
    collector.raise_all()
    """

    def __init__(self) -> None:
        self.errors: list[BadInput] = []

    @contextmanager
    def check(self) -> Iterator[None]:
        """Collect the error that the context raises."""
        try:
            yield
        except BadInput as error:
            self.errors += errors_in(error)

    def raise_all(self) -> None:
        """Raise the collected errors, if any."""
        raise_errors(self.errors)


def steps_to(error: msgspec.ValidationError) -> list[str | int]:
    """Return where in a document a decoder's error is, with a field that it names."""
    before, _, place = str(error).rpartition(_AT)
    match = _PATH.fullmatch(place)
    steps = list(_steps(match["path"])) if match else []
    if found := _FIELD.search(before if match else place):
        steps.append(found["field"])
    return steps


def from_decoder(
    error: msgspec.DecodeError, prefix: str = "", shape: Any = None, given: Any = None
) -> BadInput:
    """Convert a decoder's error to a path and a message; a field that it names joins the path.

    `shape` is the decoded type and `given` the input, to list the allowed fields for an unknown
    one.
    """
    whole = str(error)
    before, _, place = whole.rpartition(_AT)
    match = _PATH.fullmatch(place)
    text, path = (before, match["path"]) if match else (whole, "")
    text = text[:MAX_TEXT_CHARS]
    steps = [prefix, path.lstrip(".")]
    if found := _FIELD.search(text):
        steps.append(found["field"])
    message = plain_text(text)
    is_unknown = message == UNKNOWN_FIELD and shape is not None
    known = ", ".join(allowed_fields(shape, given, path)) if is_unknown else ""
    more = f"; one of {known}" if known else ""
    return BadInput(".".join(step for step in steps if step), f"{message}{more}")
