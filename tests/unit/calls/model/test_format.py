"""The format of stored calls: its number grows when their shape has changed since a release."""

from collections.abc import Iterator
from hashlib import sha256

import msgspec
import pytest
from msgspec import inspect

from engine.calls.model.storage_format import (
    FORMAT,
    StoredCall,
    decode_later_call,
    decode_stored_call,
    encode,
)
from tests.harness.calls.builders import ID, MAIN, answered_call, say

# Of the last release. At a release, set both to what this version has.
RELEASED_FORMAT = 0
RELEASED_SHAPE = "0fc8b2806882d2d3"


def shape(kind: inspect.Type, seen: dict[type, int]) -> Iterator[str]:
    """Yield what decides whether another version can read a value: tags, fields and types."""
    if not isinstance(kind, inspect.StructType):
        yield type(kind).__name__
    match kind:
        case inspect.StructType(cls=cls) if cls in seen:
            yield f"struct {seen[cls]}"
        case inspect.StructType(cls=cls, fields=fields):
            seen[cls] = len(seen)
            yield f"struct {kind.tag} {kind.array_like}"
            for field in fields:
                yield "" if kind.array_like else field.encode_name
                yield from shape(field.type, seen)
        case inspect.UnionType(types=types):
            structs = [each for each in types if isinstance(each, inspect.StructType)]
            for each in sorted(structs, key=lambda each: str(each.tag)):
                yield from shape(each, seen)
            yield from sorted(type(each).__name__ for each in types if each not in structs)
        case inspect.LiteralType(values=values):
            yield from sorted(map(str, values))
        case _:
            for part in parts(kind):
                yield from shape(part, seen)


def parts(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    """Return the types inside a collection."""
    match kind:
        case inspect.VarTupleType(item_type=item) | inspect.DictType(value_type=item):
            return (item,)
        case inspect.TupleType(item_types=items):
            return items
        case _:
            return ()


def present_shape() -> str:
    """Return a digest of the shape of stored calls, without their format number."""
    stored = inspect.type_info(StoredCall)
    assert isinstance(stored, inspect.StructType)
    seen: dict[type, int] = {}
    fields = [each for each in stored.fields if each.name != "format"]
    lines = [line for each in fields for line in shape(each.type, seen)]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def test_a_changed_shape_has_a_new_number() -> None:
    """Else an engine of the last release would take a call and lose what it does not know."""
    expected = RELEASED_FORMAT + (present_shape() != RELEASED_SHAPE)
    assert expected == FORMAT, f"shape {present_shape()}"


def later(**fields: object) -> bytes:
    """Return a stored call of a later version, which may have a state more."""
    story = answered_call(say())
    raw = msgspec.msgpack.decode(encode(StoredCall(story.call, (), 3, FORMAT + 1)))
    if "state" in fields:
        raw[0][7] = fields["state"]
    return msgspec.msgpack.encode(raw)


@pytest.mark.parametrize("fields", [{}, {"state": ["queueing", 1]}])
def test_a_later_call_is_known_by_its_number(fields: dict[str, object]) -> None:
    """Whether or not this version could decode it; its channels are among its names."""
    found = decode_later_call(ID, later(**fields))
    assert found is not None
    assert found.format == FORMAT + 1
    assert found.owns(MAIN)
    assert found.owns(f"{ID}.b7")
    assert not found.owns("1700000000.9")


@pytest.mark.parametrize("stored_format", [FORMAT - 1, FORMAT])
def test_calls_of_this_and_earlier_formats(stored_format: int) -> None:
    """They are decoded."""
    call = answered_call(say()).call
    body = encode(StoredCall(call, (), 3, stored_format))
    assert decode_later_call(ID, body) is None
    assert decode_stored_call(body).call == call


def test_an_invalid_call_is_no_later_one() -> None:
    """It is not left alone for ever."""
    assert decode_later_call(ID, msgspec.msgpack.encode([1, 2, 3, "x"])) is None
    assert decode_later_call(ID, msgspec.msgpack.encode("x")) is None
    with pytest.raises(msgspec.DecodeError):
        decode_later_call(ID, b"\xc1")


def test_all_names_of_a_later_call_are_its_own() -> None:
    """Wherever they are: in a list, in a map, and as a value."""
    body = msgspec.msgpack.encode([["a", {"key": "b"}], "c", 7, FORMAT + 1])
    fields = msgspec.msgpack.decode(body)
    position = StoredCall.__struct_fields__.index("format")
    later_fields = [*fields[:3], *[0] * (position - 3), FORMAT + 1]
    found = decode_later_call(ID, msgspec.msgpack.encode(later_fields))
    assert found is not None
    assert [each for each in ("a", "b", "c", "key") if found.owns(each)] == ["a", "b", "c"]
