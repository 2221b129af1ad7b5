"""Which fields a shape has at a place in a document: told to who sent another one."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

_STEP = re.compile(r"\[(?P<place>\d+|\.\.\.)\]|\.(?P<key>[^.\[]+)")
_SOME = ""  # a decoder does not say which value of a mapping it was
_info = cache(inspect.type_info)
_SEVERAL = (inspect.ListType, inspect.VarTupleType)


def allowed_fields(shape: Any, given: Any, path: str) -> tuple[str, ...]:
    """Name the fields of an object in a document, JSON or decoded; none where that is not known.

    `path`: where it is, as a decoder tells it (`.action.data`).
    """
    try:
        document = msgspec.json.decode(given) if isinstance(given, bytes) else given
    except (msgspec.DecodeError, RecursionError):
        return ()
    kind: inspect.Type | None = _one(_info(shape), document)
    for step in _steps(path):
        kind = _below(kind, step)
        document = _inside(document, step)
        kind = kind and _one(kind, document)
    if not isinstance(kind, inspect.StructType):
        return ()
    tag = (kind.tag_field,) if kind.tag_field else ()
    return (*tag, *(field.encode_name for field in kind.fields))


def _steps(path: str) -> Iterator[str | int]:
    for step in _STEP.finditer(path):
        key, place = step["key"], step["place"]
        yield key if place is None else _SOME if place == "..." else int(place)


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


def _one(kind: inspect.Type, document: Any) -> inspect.Type | None:
    """Choose the one of several shapes that is meant: objects say by a tag which they are."""
    match kind:
        case inspect.Metadata(type=inner):
            return _one(inner, document)
        case inspect.UnionType(types=kinds):
            return next((each for each in kinds if _is_meant(each, document)), None)
        case _:
            return kind


def _is_meant(kind: inspect.Type, document: Any) -> bool:
    if isinstance(kind, inspect.StructType) and isinstance(document, dict):
        return not kind.tag_field or document.get(kind.tag_field) == kind.tag
    if isinstance(kind, inspect.DictType):
        return isinstance(document, dict)
    return isinstance(kind, _SEVERAL) and isinstance(document, list)
