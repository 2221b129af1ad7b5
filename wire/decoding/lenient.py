"""Decodes what people send: liberal where the meaning is clear, else with all errors at once.

A document that its shape accepts costs nothing more. In a rejected document these values are
converted (docs/rest.md): a whole float for an integer, null or an empty text for an optional
field, which is then absent, a number or a boolean for a `wire.base.Text`, a phone number with
separators, and an e-mail address with blanks around it or as a link.

Its work is bounded, for strangers may send what they like: after MAX_WORK, which both steps share,
no further value is converted, and no further error is found. The decoder says where the first error
of a part is: what comes before it is valid, and only what follows is decoded again. The items of a
list that is too long are not looked at.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import UnionType
from typing import Any, NamedTuple, TypeVar, overload

import msgspec
from msgspec import Struct, inspect

from wire.decoding.error_texts import INVALID_VALUE, REQUIRED, UNKNOWN_FIELD, expected_range
from wire.decoding.errors import (
    MAX_ERRORS,
    BadInput,
    from_decoder,
    one_type,
    raise_errors,
    steps_to,
    type_info,
)
from wire.decoding.json_errors import NOT_JSON, is_out_of_range, json_error, read_json, repaired
from wire.decoding.texts import email_address
from wire.phone_numbers.e164 import without_separators
from wire.phone_numbers.written_number import MAX_CHARS

T = TypeVar("T")
MAX_STEP_CHARS = 128  # of a customer's name in the path of an error
MAX_WORK = 2_000  # for a rejected document; a text that is looked at is 1, about 1 µs
OBJECT_WORK = 3
PART_WORK = 8  # to decode a part once more, and to look for its error
NUMBER_WORK = 60  # to read a phone number with separators


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
    kind, work = type_info(shape), _Work()
    try:
        meant = _Meaning(work).of(document, kind)
        return msgspec.convert(meant, shape, strict=strict)
    except msgspec.ValidationError as left:
        faults = _Faults(work, strict=strict)
        errors = [] if work.is_over() else faults.of_document(meant, kind, prefix, left)
        raise_errors(errors[:MAX_ERRORS] or [from_decoder(error, prefix, shape, document)])
    except RecursionError:
        raise BadInput(prefix, "nested too deep", "too_deep") from None


class _Work:
    """What may yet be done for one document."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def is_over(self, amount: int = 0) -> bool:
        """Count work that is to be done; return whether it is too much."""
        self._left -= amount
        return self._left < 0


class _Meaning:
    """Reads the values of one document as their types can read them."""

    def __init__(self, work: _Work) -> None:
        self._work = work

    def of(self, value: Any, kind: inspect.Type) -> Any:
        """Return a value as the type can read it; unchanged where that is not clear."""
        if not isinstance(value, dict | list):
            return self._of_scalar(value, kind)
        chosen = one_type(kind, value)
        if _is_too_long(value, chosen) or _is_fixed(chosen):
            return value
        members = len(chosen.fields) if isinstance(chosen, inspect.StructType) else len(value)
        if self._work.is_over(min(members, len(value)) + OBJECT_WORK):
            return value
        match value, chosen:
            case dict(), inspect.StructType():
                fields, meant = _fields(chosen), dict(value)
                for name in value:
                    if name in fields:
                        self._set(meant, fields[name])
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
            if scalar.is_number and len(value) <= MAX_CHARS and not _is_plain(value):
                return value if self._work.is_over(NUMBER_WORK) else without_separators(value)
            return email_address(value) if scalar.is_email else value
        if isinstance(value, float) and scalar.is_whole and value.is_integer():
            return int(value)
        if isinstance(value, bool | int | float) and scalar.is_text:
            return msgspec.json.encode(value).decode()
        return value


class _Scalar(Struct, frozen=True):
    """What a type makes of texts and numbers."""

    is_fixed: bool  # nothing but what it is
    is_raw: bool
    is_whole: bool
    is_text: bool
    is_number: bool
    is_email: bool


_FIXED = (
    inspect.StrType,
    inspect.FloatType,
    inspect.BoolType,
    inspect.NoneType,
    inspect.LiteralType,
)
_scalars: dict[int, tuple[inspect.Type, _Scalar]] = {}


def _scalar(kind: inspect.Type) -> _Scalar:
    if (known := _scalars.get(id(kind))) is not None:
        return known[1]
    kinds = tuple(alternatives(kind))
    plain = tuple(each.type if isinstance(each, inspect.Metadata) else each for each in kinds)
    scalar = _Scalar(
        is_fixed=all(isinstance(each, _FIXED) for each in plain)
        and not any(isinstance(each, inspect.Metadata) and each.extra for each in kinds),
        is_raw=any(isinstance(each, inspect.RawType) for each in plain),
        is_whole=any(isinstance(each, inspect.IntType) for each in plain)
        and not any(isinstance(each, inspect.FloatType) for each in plain),
        is_text=_has_mark(kinds, "scalars"),
        is_number=_has_mark(kinds, "number"),
        is_email=_has_mark(kinds, "email"),
    )
    _scalars[id(kind)] = (kind, scalar)
    return scalar


def _is_plain(number: str) -> bool:
    return number.isascii() and number.removeprefix("+").isdecimal()


def _is_fixed(kind: inspect.Type | None) -> bool:
    """Return whether no item of a list or a mapping can be converted."""
    match kind:
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return _scalar(item).is_fixed
        case inspect.DictType(value_type=item):
            return _scalar(item).is_fixed
        case _:
            return False


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


class _Fault(NamedTuple):
    """The decoder's first error in a part of a document, and where in the part it is."""

    steps: list[str | int]
    error: msgspec.ValidationError

    def below(self) -> "_Fault":
        """Return the error as that of the member or item in which it is."""
        return _Fault(self.steps[1:], self.error)


# Decodes a value in its place in a struct, all else of which is left out.
Probe = Callable[[Any], _Fault | None]


class _Faults:
    """Finds the errors of each part of a document.

    Parts are converted inside their struct: msgspec 0.22 frees a union with an array of limited
    length twice, unless a struct holds it.
    """

    def __init__(self, work: _Work, *, strict: bool) -> None:
        self._work = work
        self._strict = strict
        self._found = 0

    def of_document(
        self, value: Any, kind: inspect.Type, path: str, error: msgspec.ValidationError
    ) -> list[BadInput]:
        """Return the errors of a document of which the decoder has found one."""
        chosen = one_type(kind, value)
        if isinstance(value, dict) and isinstance(chosen, inspect.StructType):
            return self._of_struct(value, chosen, path, _Fault(steps_to(error), error))
        return list(_tag_errors(value, kind, path)) if isinstance(value, dict) else []

    def _of(
        self, value: Any, kind: inspect.Type, path: str, fault: _Fault, probe: Probe
    ) -> list[BadInput]:
        chosen, errors = one_type(kind, value), list[BadInput]()
        if not _is_too_long(value, chosen):
            match value, chosen:
                case dict(), inspect.StructType():
                    errors = self._of_struct(value, chosen, path, fault)
                case dict(), inspect.DictType(value_type=item):
                    errors = self._of_mapping(value, item, path, probe)
                case dict(), None:
                    errors = self._counted(_tag_errors(value, kind, path))
                case list(), inspect.ListType(item_type=item):
                    errors = self._of_list(value, item, path, fault, probe)
                case list(), inspect.VarTupleType(item_type=item):
                    errors = self._of_list(value, item, path, fault, probe)
                case _:
                    pass
        if errors or self._work.is_over():
            return errors
        message = _range_message(fault.error, kind) or _message(fault.error)
        return self._counted([BadInput(path, f"{message}{_choices(message, kind)}")])

    def _of_struct(
        self, value: dict[str, Any], kind: inspect.StructType, path: str, fault: _Fault | None
    ) -> list[BadInput]:
        fields = _fields(kind)
        tag = {kind.tag_field: kind.tag} if kind.tag_field else {}
        known = {name: each for name, each in value.items() if name in fields}
        errors = list[BadInput]()
        if kind.forbid_unknown_fields and len(known) < len(value):
            errors += self._counted(_unknown_fields(value, fields, tag, path))
        of_fields = {
            name: self._counted([BadInput(_join(path, name), REQUIRED)])
            for name, each in fields.items()
            if each.required and name not in known
        }
        pending = known  # what may have errors: what is before one of the decoder's has none
        if fault and (not fault.steps or fault.steps[0] not in known):
            fault = None  # it is about a field that is unknown or missing
        while pending and not self._is_enough():
            fault = fault or self._fault({**tag, **pending}, kind.cls)
            if fault is None or not fault.steps or fault.steps[0] not in pending:
                break
            name = str(fault.steps[0])
            probe = partial(self._probe_field, kind.cls, tag, name)
            of_fields[name] = self._of(
                known[name], fields[name].type, _join(path, name), fault.below(), probe
            )
            names = [*pending]
            pending = {each: known[each] for each in names[names.index(name) + 1 :]}
            fault = None
        if of_fields:
            for name in fields:
                errors += of_fields.get(name, ())
        return errors

    def _of_list(
        self, value: list[Any], kind: inspect.Type, path: str, fault: _Fault | None, probe: Probe
    ) -> list[BadInput]:
        errors, start = list[BadInput](), 0
        while start < len(value) and not self._is_enough():
            fault = fault or probe(value[start:])
            if fault is None or not fault.steps or not isinstance(fault.steps[0], int):
                break
            start += fault.steps[0]
            of_item = partial(_probe_item, probe, None)
            where = f"{path}[{start}]"
            errors += self._of(value[start], kind, where, fault.below(), of_item)
            start += 1
            fault = None
        return errors

    def _of_mapping(
        self, value: dict[str, Any], kind: inspect.Type, path: str, probe: Probe
    ) -> list[BadInput]:
        """Halve a mapping: the decoder does not say which of its members it has refused."""
        errors, parts = list[BadInput](), [[*value]] if value else []
        while parts and not self._is_enough():
            names = parts.pop()
            fault = probe({name: value[name] for name in names})
            if fault is None:
                continue
            if len(names) > 1:
                half = len(names) // 2
                parts += [names[half:], names[:half]]
            else:
                of_item = partial(_probe_item, probe, names[0])
                where = _join(path, names[0])
                errors += self._of(value[names[0]], kind, where, fault.below(), of_item)
        return errors

    def _is_enough(self) -> bool:
        return self._found >= MAX_ERRORS or self._work.is_over(PART_WORK)

    def _counted(self, errors: Iterable[BadInput]) -> list[BadInput]:
        counted = list(islice(errors, MAX_ERRORS))
        self._found += len(counted)
        return counted

    def _probe_field(
        self, shape: type[Struct], tag: dict[str, Any], name: str, value: Any
    ) -> _Fault | None:
        fault = self._fault({**tag, name: value}, shape)
        # Another one is about the fields that are left out.
        return fault.below() if fault and fault.steps[:1] == [name] else None

    def _fault(self, members: dict[str, Any], shape: type[Struct]) -> _Fault | None:
        try:
            msgspec.convert(members, shape, strict=self._strict)
        except msgspec.ValidationError as error:
            return _Fault(steps_to(error), error)
        return None


def _probe_item(probe: Probe, name: str | None, item: Any) -> _Fault | None:
    fault = probe([item] if name is None else {name: item})
    return fault and fault.below()


def _unknown_fields(
    value: dict[str, Any], fields: Mapping[str, Any], tag: Mapping[str, Any], path: str
) -> Iterator[BadInput]:
    """Yield the errors of members that the type does not have; the first one says what it has."""
    unknown = (name for name in value if name not in fields and name not in tag)
    for index, name in enumerate(unknown):
        allowed = f"; one of {', '.join((*tag, *fields))}" if index == 0 else ""
        yield BadInput(_join(path, name), f"{UNKNOWN_FIELD}{allowed}")


_by_name: dict[int, tuple[inspect.StructType, dict[str, inspect.Field]]] = {}


def _fields(kind: inspect.StructType) -> dict[str, inspect.Field]:
    known = _by_name.get(id(kind))
    if known is None:
        fields = {each.encode_name: each for each in kind.fields}
        known = _by_name[id(kind)] = (kind, fields)
    return known[1]


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
