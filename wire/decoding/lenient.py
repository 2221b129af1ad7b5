"""Decodes what people send: liberal where the meaning is clear, else with all errors at once.

A document that its shape accepts costs nothing more. Of another, these are read as they are meant
(design section 7): a whole float where an integer is expected, null or an empty text for an
optional field, which is then absent, and a number or a boolean for a `wire.base.Text`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, inspect

from wire.errors import BadInput, from_decoder, one_type, raise_errors

T = TypeVar("T")
MAX_ERRORS = 50


def decode(body: bytes, shape: type[T], prefix: str = "") -> T:
    """Decode JSON; raises BadInput, or InputErrors for several errors."""
    try:
        try:
            return _decoder(shape).decode(body)
        except msgspec.ValidationError as error:
            found: T = _retry(msgspec.json.decode(body), shape, prefix, error, strict=True)
            return found
    except msgspec.DecodeError as error:
        raise from_decoder(error, prefix) from None
    except UnicodeDecodeError:
        raise BadInput(prefix, "not UTF-8") from None
    except RecursionError:
        raise BadInput(prefix, "nested too deep", "too_deep") from None


def convert(value: Any, shape: Any, prefix: str = "", *, strict: bool = True) -> Any:
    """Convert a decoded document; not `strict`: the parameters of a query, which are all texts."""
    try:
        return _convert(value, shape, strict=strict)
    except msgspec.ValidationError as error:
        return _retry(value, shape, prefix, error, strict=strict)


_decoders: dict[int, tuple[Any, msgspec.json.Decoder[Any]]] = {}


def _decoder(shape: type[T]) -> msgspec.json.Decoder[T]:
    found = _decoders.get(id(shape))
    if found is None:
        found = _decoders[id(shape)] = (shape, msgspec.json.Decoder(shape))
    return found[1]


class _Holder(NamedTuple):
    """A type as the only field of a struct.

    msgspec 0.22 frees the limits of an array in a union twice, unless a struct holds the union.
    """

    annotation: Any  # kept, so that its id stays its own
    shape: type[Struct]
    kind: inspect.Type


_holders: dict[int, _Holder] = {}
_fields = cache(msgspec.structs.fields)


def _holder(annotation: Any) -> _Holder:
    found = _holders.get(id(annotation))
    if found is None:
        shape = msgspec.defstruct("Holder", [("value", annotation)])
        kind = inspect.type_info(shape)
        assert isinstance(kind, inspect.StructType)  # noqa: S101 - narrows for mypy
        found = _holders[id(annotation)] = _Holder(annotation, shape, kind.fields[0].type)
    return found


def _convert(value: Any, annotation: Any, *, strict: bool) -> Any:
    held: Any = msgspec.convert({"value": value}, _holder(annotation).shape, strict=strict)
    return held.value


def _retry(
    document: Any, shape: Any, prefix: str, error: msgspec.ValidationError, *, strict: bool
) -> Any:
    try:
        meant = _meant(document, _holder(shape).kind)
        return _convert(meant, shape, strict=strict)
    except msgspec.ValidationError:
        errors = list(islice(_errors(meant, shape, prefix, strict=strict), MAX_ERRORS))
        raise_errors(errors or [from_decoder(error, prefix, shape, document)])
    except RecursionError:
        raise BadInput(prefix, "nested too deep", "too_deep") from None


def _meant(value: Any, kind: inspect.Type) -> Any:
    """Return a value as the type can read it; unchanged where that is not clear."""
    chosen = one_type(kind, value)
    match value, chosen:
        case dict(), inspect.StructType(fields=fields):
            by_name = {each.encode_name: each for each in fields}
            meant = {name: _meant_field(each, by_name.get(name)) for name, each in value.items()}
            return {name: each for name, each in meant.items() if each is not UNSET}
        case dict(), inspect.DictType(value_type=item):
            return {name: _meant(each, item) for name, each in value.items()}
        case list(), inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [_meant(each, item) for each in value]
        case _:
            return _meant_scalar(value, kind)


def _meant_field(value: Any, field: inspect.Field | None) -> Any:
    """Return the value of an object's field; UNSET: it is absent."""
    if field is None or (value is not None and value != ""):
        return value if field is None else _meant(value, field.type)
    if _accepts(field.type, value):
        return value
    if _accepts(field.type, None):
        return None
    return value if field.required else UNSET


def _meant_scalar(value: Any, kind: inspect.Type) -> Any:
    kinds = tuple(_alternatives(kind))
    plain = tuple(each.type if isinstance(each, inspect.Metadata) else each for each in kinds)
    if isinstance(value, float) and value.is_integer():
        is_int = any(isinstance(each, inspect.IntType) for each in plain)
        if is_int and not any(isinstance(each, inspect.FloatType) for each in plain):
            return int(value)
    if isinstance(value, bool | int | float) and any(map(_takes_scalars, kinds)):
        return msgspec.json.encode(value).decode()
    return value


def _takes_scalars(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.Metadata) and "scalars" in (kind.extra or {})


def _alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the members of a union, or the type itself."""
    match kind:
        case inspect.UnionType(types=kinds):
            yield from kinds
        case inspect.Metadata(type=inspect.UnionType(types=kinds)):
            yield from kinds
        case _:
            yield kind


def _accepts(kind: inspect.Type, value: str | None) -> bool:
    """Return whether a type accepts null, or an empty text."""
    for each in _alternatives(kind):
        match each.type if isinstance(each, inspect.Metadata) else each:
            case inspect.AnyType() | inspect.RawType():
                return True
            case inspect.NoneType() if value is None:
                return True
            case inspect.LiteralType(values=values) if value in values:
                return True
            case inspect.StrType(min_length=least, pattern=pattern) if value is not None:
                if not least and (pattern is None or re.search(pattern, value)):
                    return True
            case _:
                pass
    return False


def _errors(value: Any, shape: Any, path: str, *, strict: bool) -> Iterator[BadInput]:
    """Yield the errors of each part of a document, as each part's own conversion finds them."""
    try:
        _convert(value, shape, strict=strict)
    except msgspec.ValidationError as error:
        inner = list(_inner_errors(value, shape, path, strict=strict))
        yield from inner or [_own_error(error, value, shape, path)]


def _own_error(error: msgspec.ValidationError, value: Any, shape: Any, path: str) -> BadInput:
    found = from_decoder(error, "", _holder(shape).shape, {"value": value})
    below = found.path.removeprefix("value").lstrip(".")
    if not below or below.startswith("["):
        return BadInput(path + below, found.message, found.code)
    return BadInput(_join(path, below), found.message, found.code)


def _inner_errors(value: Any, shape: Any, path: str, *, strict: bool) -> Iterator[BadInput]:
    kind = one_type(_holder(shape).kind, value)
    if isinstance(kind, inspect.StructType) and isinstance(value, Mapping):
        yield from _struct_errors(value, kind, path, strict=strict)
    elif isinstance(value, Mapping) and (item := _item(shape, dict)) is not None:
        for name, each in value.items():
            yield from _errors(each, item, _join(path, str(name)), strict=strict)
    elif isinstance(value, Mapping) and kind is None:
        yield from _tag_errors(value, _holder(shape).kind, path)
    elif isinstance(value, list) and (item := _item(shape, list, tuple)) is not None:
        for index, each in enumerate(value):
            yield from _errors(each, item, f"{path}[{index}]", strict=strict)


def _tag_errors(value: Mapping[str, Any], kind: inspect.Type, path: str) -> Iterator[BadInput]:
    """Yield an error if the object's tag is none of the union's."""
    kinds = [each for each in _alternatives(kind) if isinstance(each, inspect.StructType)]
    name = next((each.tag_field for each in kinds if each.tag_field), None)
    if name is not None and isinstance(value.get(name), str):
        tags = ", ".join(str(each.tag) for each in kinds)
        text = f"Invalid value {value[name]!r}; one of {tags}"
        yield BadInput(_join(path, name), text, "unknown_verb")  # verbs are the only such unions


def _struct_errors(
    value: Mapping[str, Any], kind: inspect.StructType, path: str, *, strict: bool
) -> Iterator[BadInput]:
    fields = {each.encode_name: each for each in _fields(kind.cls)}
    tag = (kind.tag_field,) if kind.tag_field else ()
    for name in value:
        if name not in fields and name not in tag and kind.forbid_unknown_fields:
            allowed = ", ".join((*tag, *fields))
            text = f"Object contains unknown field `{name}`; one of {allowed}"
            yield BadInput(_join(path, name), text)
    for name, field in fields.items():
        if name in value:
            yield from _errors(value[name], field.type, _join(path, name), strict=strict)
        elif field.required:
            yield BadInput(_join(path, name), f"Object missing required field `{name}`")


def _item(shape: Any, *containers: Callable[..., Any]) -> Any:
    """Return the annotation of a container's items, also of a container in a union."""
    if get_origin(shape) is Annotated:
        return _item(get_args(shape)[0], *containers)
    if get_origin(shape) in containers:
        return get_args(shape)[1 if dict in containers else 0]
    if get_origin(shape) in _UNIONS:
        found = (_item(each, *containers) for each in get_args(shape))
        return next((each for each in found if each is not None), None)
    return None


_UNIONS = (Union, type(int | str))


def _join(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
