"""customData and contact: any JSON object that can be stored, sent on and read again."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from wire.custom_data import MAX_BYTES, MAX_DEPTH, check_custom_data
from wire.decoding.errors import BadInput

JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False) | some.text(),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=20,
)


def nested(depth: int) -> dict[str, Any]:
    """Return an object with so many levels."""
    return {"a": nested(depth - 1)} if depth > 1 else {"a": 1}


def test_usual_data_passes() -> None:
    """Objects, lists, texts, numbers and null are accepted."""
    check_custom_data(None, "customData")
    check_custom_data({}, "customData")
    check_custom_data(
        {"order": {"id": 2**64 - 1, "items": [1, "two", None, 2.5, True]}}, "customData"
    )
    check_custom_data(nested(MAX_DEPTH - 1), "customData")


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1, 900])
def test_depth_is_limited(depth: int) -> None:
    """A stored call must be readable at any depth of the stack, so data is not nested for ever."""
    with pytest.raises(BadInput, match="nested deeper") as caught:
        check_custom_data(nested(depth), "customData")
    assert (caught.value.path, caught.value.code) == ("customData", "too_deep")


def test_size_is_limited() -> None:
    """It is sent with every event and commit, so its size is limited."""
    with pytest.raises(BadInput, match="larger than") as caught:
        check_custom_data({"a": "x" * MAX_BYTES}, "contact")
    assert (caught.value.path, caught.value.code) == ("contact", "too_large")


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_integers_are_of_64_bits(number: int) -> None:
    """A larger one could be read from JSON, but never stored."""
    with pytest.raises(BadInput, match="64 bits"):
        check_custom_data({"list": [number]}, "customData")


@given(some.dictionaries(some.text(max_size=5), JSON, max_size=4))
def test_what_passes_can_be_stored(data: dict[str, Any]) -> None:
    """Accepted data survives encoding for the store."""
    try:
        check_custom_data(data, "customData")
    except BadInput:
        return
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(data)) == data
