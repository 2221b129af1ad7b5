"""Errors in input are reported in plain words, never in those of the decoder."""

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta

from wire.decoding import lenient
from wire.decoding.errors import BadInput, errors_in

WHOLE = Annotated[int, Meta(ge=1, le=9)]
SECONDS = Annotated[float, Meta(gt=0, le=600)]


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    """A shape with one field of each kind."""

    needed: Annotated[str, Meta(min_length=1)]
    whole: WHOLE = 1
    seconds: SECONDS = 1.0
    below: Annotated[float, Meta(lt=0.5)] = 0.0
    text: Annotated[str, Meta(min_length=1, max_length=4)] = "x"
    names: Annotated[list[str], Meta(min_length=1, max_length=3)] = msgspec.field(
        default_factory=list
    )
    by_name: Annotated[dict[str, int], Meta(max_length=1)] = {}
    flag: bool = False
    either: int | float | str | None = None


FIELDS = "needed, whole, seconds, below, text, names, by_name, flag, either"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("whole", 0, "expected a whole number, at least 1 and at most 9"),
        ("whole", 10, "expected a whole number, at least 1 and at most 9"),
        ("whole", 1.5, "expected a whole number, got a decimal number"),
        ("whole", "1", "expected a whole number, got text"),
        ("seconds", 601, "expected a number, more than 0 and at most 600"),
        ("seconds", 0, "expected a number, more than 0 and at most 600"),
        ("seconds", True, "expected a number, got true or false"),
        ("below", 0.5, "expected a number, less than 0.5"),
        ("needed", "", "expected text of at least 1 character"),
        ("needed", None, "expected text, got null"),
        ("text", "abcde", "expected text of at most 4 characters"),
        ("text", ["a"], "expected text, got a list"),
        ("names", [], "expected a list of at least 1 item"),
        ("names", ["a"] * 4, "expected a list of at most 3 items"),
        ("names", {}, "expected a list, got an object"),
        ("by_name", {"a": 1, "b": 2}, "expected an object of at most 1 field"),
        ("flag", 1, "expected true or false, got a whole number"),
        ("either", [], "expected a number, text or null, got a list"),
        ("none", 1, f"unknown field; one of {FIELDS}"),
    ],
)
def test_a_wrong_value(field: str, value: Any, message: str) -> None:
    """The message says which values are allowed, and which kind was given."""
    assert _errors({"needed": "x", field: value}) == {field: message}


def test_several_unknown_fields() -> None:
    """The allowed ones are listed once; a missing one has its own error."""
    errors = _errors({"a": 1, "b": 2})
    assert errors.pop("a").startswith("unknown field; one of needed, whole")
    assert errors == {"b": "unknown field", "needed": "required, but missing"}


@pytest.mark.parametrize("body", [b"", b'{"whole": ', b'{"text": "abc'])
def test_a_truncated_document(body: bytes) -> None:
    """Its end is missing."""
    with pytest.raises(BadInput) as raised:
        lenient.decode(body, Shape)
    assert str(raised.value) == "the JSON is truncated"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"seconds": 1e400}', "in.seconds"),
        (b'{"whole": 0, "seconds": 1e400}', "in"),  # another field has the first error
        (b'{"more": {"any": 1e400}}', "in"),
    ],
)
def test_a_number_beyond_all_numbers(body: bytes, path: str) -> None:
    """The path ends where the decoder knows no field."""
    assert _error(body) == (path, "a number in the JSON is too large")


def _error(body: bytes) -> tuple[str, str]:
    with pytest.raises(BadInput) as raised:
        lenient.decode(body, Shape, "in")
    return raised.value.path, raised.value.message


def _errors(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(BadInput) as raised:
        lenient.decode(msgspec.json.encode(document), Shape)
    return {each.path: each.message for each in errors_in(raised.value)}
