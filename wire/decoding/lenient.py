"""Decodes what people send: liberal where the meaning is clear, else with all errors at once.

A document that its shape accepts costs nothing more. In a rejected document these values are
converted (decision 0039): a whole float for an integer, null or an empty text for an optional
field, which is then absent, a number or a boolean for a `wire.base.Text`, a phone number with
separators, and an e-mail address with blanks around it or as a link.

Its work is bounded, for strangers may send what they like: a document of more values than
MAX_VALUES is neither converted nor searched for further errors, the items of a list that is too
long are not looked at, nor are more numbers than MAX_NUMBERS.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import UnionType
from typing import Any, TypeVar, overload

import msgspec
from msgspec import Struct, inspect

from wire.decoding.email_address import email_address
from wire.decoding.error_texts import INVALID_VALUE, REQUIRED, UNKNOWN_FIELD, expected_range
from wire.decoding.errors import (
    MAX_ERRORS,
    BadInput,
    from_decoder,
    one_type,
    raise_errors,
    type_info,
)
from wire.decoding.json_document import NOT_JSON, is_out_of_range, json_error, read_json, repaired
from wire.phone_numbers.e164 import without_separators
from wire.phone_numbers.written_number import MAX_CHARS

T = TypeVar("T")
MAX_VALUES = 5_000  # of a document that is converted
MAX_NUMBERS = 50  # of them that are read as phone numbers: one takes as long as 100 other values
MAX_STEP_CHARS = 128  # of a customer's name in the path of an error
MAX_PROBED = 10_000  # values in all parts that are converted to find their errors


@overload
def decode(body: bytes, shape: type[T], prefix: str = "") -> T: ...


@overload
def decode(body: bytes, shape: UnionType, prefix: str = "") -> Any: ...


def decode(body: bytes, shape: Any, prefix: str = "") -> Any:
    """Decode JSON; raises BadInput, or InputErrors for several errors."""
    try:
        return _decoder(shape).decode(body)
    except msgspec.ValidationError as error:
        first = error
    except NOT_JSON as error:
        if (meant := repaired(body)) != body:
            return convert(read_json(meant, prefix), shape, prefix)
        raise json_error(error, prefix) from None
    if is_out_of_range(first):
        raise json_error(first, prefix)
    return _retry(read_json(body, prefix), shape, prefix, first, strict=True)


def convert(value: Any, shape: Any, prefix: str = "", *, strict: bool = True) -> Any:
    """Convert a decoded document; not `strict`: the parameters of a query, which are all texts."""
    try:
        return msgspec.convert(value, shape, strict=strict)
    except msgspec.ValidationError as error:
        return _retry(value, shape, prefix, error, strict=strict)
    except RecursionError:
        raise BadInput(prefix, "nested too deep", "too_deep") from None


_decoders: dict[int, tuple[Any, msgspec.json.Decoder[Any]]] = {}


def _decoder(shape: Any) -> msgspec.json.Decoder[Any]:
    found = _decoders.get(id(shape))
    if found is None:
        found = _decoders[id(shape)] = (shape, msgspec.json.Decoder(shape))
    return found[1]


def _retry(
    document: Any, shape: Any, prefix: str, error: msgspec.ValidationError, *, strict: bool
) -> Any:
    if count_values(document, MAX_VALUES) >= MAX_VALUES:
        raise from_decoder(error, prefix)
    try:
        meant = _Meaning().of(document, type_info(shape))
        return msgspec.convert(meant, shape, strict=strict)
    except msgspec.ValidationError:
        found = _Faults(strict=strict).inside(meant, type_info(shape), prefix, None)
        errors = list(islice(found, MAX_ERRORS))
        raise_errors(errors or [from_decoder(error, prefix, shape, document)])
    except RecursionError:
        raise BadInput(prefix, "nested too deep", "too_deep") from None


def count_values(document: Any, most: int) -> int:
    """Return how many members and items are in a document, at any depth; at least `most`: many."""
    pending, count = [document], 1
    while pending and count < most:
        value = pending.pop()
        if isinstance(value, dict | list):
            count += len(value)
            if count < most:
                pending.extend(value.values() if isinstance(value, dict) else value)
    return count


class _Meaning:
    """Reads the values of one document as their types can read them."""

    def __init__(self) -> None:
        self._numbers_left = MAX_NUMBERS

    def of(self, value: Any, kind: inspect.Type) -> Any:
        """Return a value as the type can read it; unchanged where that is not clear."""
        if not isinstance(value, dict | list):
            return self._of_scalar(value, kind)
        chosen = one_type(kind, value)
        if _is_too_long(value, chosen):
            return value
        match value, chosen:
            case dict(), inspect.StructType(fields=fields):
                meant = dict(value)
                for each in fields:
                    if each.encode_name in value:
                        self._set(meant, each)
                return meant
            case dict(), inspect.DictType(value_type=item):
                return {name: self.of(each, item) for name, each in value.items()}
            case list(), inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
                return [self.of(each, item) for each in value]
            case _, inspect.RawType():  # which `convert` does not make of a value
                return msgspec.Raw(msgspec.json.encode(value))
            case _:
                return value

    def _set(self, members: dict[str, Any], field: inspect.Field) -> None:
        """Set the value of an object's field, or remove it: it is absent."""
        name = field.encode_name
        meant = members[name] = self.of(members[name], field.type)
        if meant in (None, "") and not _accepts(field.type, meant):
            if _accepts(field.type, None):
                members[name] = None
            elif not field.required:
                del members[name]

    def _of_scalar(self, value: Any, kind: inspect.Type) -> Any:
        scalar = _scalar(kind)
        if scalar.is_raw:
            return msgspec.Raw(msgspec.json.encode(value))
        if isinstance(value, str):
            if scalar.is_number and self._numbers_left and len(value) <= MAX_CHARS:
                self._numbers_left -= 1
                return without_separators(value)
            return email_address(value) if scalar.is_email else value
        if isinstance(value, float) and scalar.is_whole and value.is_integer():
            return int(value)
        if isinstance(value, bool | int | float) and scalar.is_text:
            return msgspec.json.encode(value).decode()
        return value


class _Scalar(Struct, frozen=True):
    """What a type makes of texts and numbers."""

    is_raw: bool
    is_whole: bool
    is_text: bool
    is_number: bool
    is_email: bool


_scalars: dict[int, tuple[inspect.Type, _Scalar]] = {}


def _scalar(kind: inspect.Type) -> _Scalar:
    if (known := _scalars.get(id(kind))) is not None:
        return known[1]
    kinds = tuple(alternatives(kind))
    plain = tuple(each.type if isinstance(each, inspect.Metadata) else each for each in kinds)
    scalar = _Scalar(
        is_raw=any(isinstance(each, inspect.RawType) for each in plain),
        is_whole=any(isinstance(each, inspect.IntType) for each in plain)
        and not any(isinstance(each, inspect.FloatType) for each in plain),
        is_text=_has_mark(kinds, "scalars"),
        is_number=_has_mark(kinds, "number"),
        is_email=_has_mark(kinds, "email"),
    )
    _scalars[id(kind)] = (kind, scalar)
    return scalar


def _is_too_long(value: Any, kind: inspect.Type | None) -> bool:
    """Return whether a list or an object has more items than its type allows."""
    most = getattr(kind, "max_length", None)
    return most is not None and isinstance(value, list | Mapping) and len(value) > most


def _has_mark(kinds: Iterable[inspect.Type], name: str) -> bool:
    marked = (each.extra or {} for each in kinds if isinstance(each, inspect.Metadata))
    return any(name in extra for extra in marked)


def alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
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
    for each in alternatives(kind):
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


# Returns the error of a value in its place in a struct, all else of which is left out.
Probe = Callable[[Any], msgspec.ValidationError | None]


class _Faults:
    """Finds the errors of each part of a document.

    Parts are converted inside their struct: msgspec 0.22 frees a union with an array of limited
    length twice, unless a struct holds it.
    """

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._left = MAX_PROBED

    def inside(
        self, value: Any, kind: inspect.Type, path: str, probe: Probe | None
    ) -> Iterator[BadInput]:
        """Yield the errors of an object, or of a list's or mapping's items."""
        chosen = one_type(kind, value)
        if _is_too_long(value, chosen):
            return
        if isinstance(value, Mapping):
            if isinstance(chosen, inspect.StructType):
                yield from self._of_struct(value, chosen, path)
            elif isinstance(chosen, inspect.DictType) and probe:
                for name, each in value.items():
                    of_item = partial(_probe_item, probe, name)
                    yield from self._of(each, chosen.value_type, _join(path, str(name)), of_item)
            elif chosen is None:
                yield from _tag_errors(value, kind, path)
        elif isinstance(value, list) and isinstance(chosen, _LISTS) and probe:
            for index, each in enumerate(value):
                of_item = partial(_probe_item, probe, None)
                yield from self._of(each, chosen.item_type, f"{path}[{index}]", of_item)

    def _of(self, value: Any, kind: inspect.Type, path: str, probe: Probe) -> Iterator[BadInput]:
        self._left -= count_values(value, self._left)
        error = probe(value) if self._left > 0 else None
        if error is None:
            return
        has_inner = False
        for inner in self.inside(value, kind, path, probe):  # not all: a list may have thousands
            has_inner = True
            yield inner
        if not has_inner:
            message = _range_message(error, kind) or _message(error)
            yield BadInput(path, f"{message}{_choices(message, kind)}")

    def _of_struct(
        self, value: Mapping[str, Any], kind: inspect.StructType, path: str
    ) -> Iterator[BadInput]:
        fields = {each.encode_name: each for each in kind.fields}
        tag = {kind.tag_field: kind.tag} if kind.tag_field else {}
        if kind.forbid_unknown_fields:
            unknown = (name for name in value if name not in fields and name not in tag)
            for index, name in enumerate(unknown):
                allowed = f"; one of {', '.join((*tag, *fields))}" if index == 0 else ""
                yield BadInput(_join(path, name), f"{UNKNOWN_FIELD}{allowed}")
        for name, field in fields.items():
            if name in value:
                probe = partial(self._probe_field, kind.cls, tag, name)
                yield from self._of(value[name], field.type, _join(path, name), probe)
            elif field.required:
                yield BadInput(_join(path, name), REQUIRED)

    def _probe_field(
        self, shape: type[Struct], tag: dict[str, Any], name: str, value: Any
    ) -> msgspec.ValidationError | None:
        try:
            msgspec.convert({**tag, name: value}, shape, strict=self._strict)
        except msgspec.ValidationError as error:
            # Without a path it is about the fields that are left out.
            return error if " `$" in str(error) else None
        return None


def _message(error: msgspec.ValidationError) -> str:
    return from_decoder(error).message


def _range_message(error: msgspec.ValidationError, kind: inspect.Type) -> str:
    """Return the message of a number beyond its bounds, which names both; else an empty text."""
    for each in alternatives(kind):
        number = each.type if isinstance(each, inspect.Metadata) else each
        name, bounds = _bounds(number)
        if any(_message(error) == expected_range(name, bound) for bound in bounds):
            return expected_range(name, *bounds)
    return ""


def _choices(message: str, kind: inspect.Type) -> str:
    """Return what may be there instead of an invalid value; empty for other errors."""
    if not message.startswith(INVALID_VALUE):
        return ""
    plain = (
        each.type if isinstance(each, inspect.Metadata) else each for each in alternatives(kind)
    )
    literals = [each for each in plain if isinstance(each, inspect.LiteralType)]
    words = [str(value) for each in literals for value in each.values]
    return f"; one of {', '.join(words)}" if words else ""


def _bounds(kind: inspect.Type) -> tuple[str, list[tuple[str, object]]]:
    """Return the decoder's name of a number's type, and its bounds; none for other types."""
    match kind:
        case inspect.IntType():
            name = "int"
        case inspect.FloatType():
            name = "float"
        case _:
            return "", []
    signs = {">=": kind.ge, ">": kind.gt, "<=": kind.le, "<": kind.lt}
    return name, [(sign, bound) for sign, bound in signs.items() if bound is not None]


_LISTS = (inspect.ListType, inspect.VarTupleType)


def _probe_item(probe: Probe, name: str | None, item: Any) -> msgspec.ValidationError | None:
    return probe([item] if name is None else {name: item})


def _tag_errors(value: Mapping[str, Any], kind: inspect.Type, path: str) -> Iterator[BadInput]:
    """Yield an error if the object's tag is missing, or none of the union's."""
    kinds = [each for each in alternatives(kind) if isinstance(each, inspect.StructType)]
    name = next((each.tag_field for each in kinds if each.tag_field), None)
    if name is not None and isinstance(value.get(name), str):
        tags = ", ".join(str(each.tag) for each in kinds)
        text = f"invalid value {value[name][:MAX_STEP_CHARS]!r}; one of {tags}"
        yield BadInput(_join(path, name), text, "unknown_verb")  # verbs are the only such unions
    elif name is not None and name not in value:
        yield BadInput(_join(path, name), REQUIRED)


def _join(path: str, step: str) -> str:
    name = step[:MAX_STEP_CHARS]
    return f"{path}.{name}" if path else name
