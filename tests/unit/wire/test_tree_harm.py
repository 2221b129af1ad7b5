"""Malicious input: depth, size, invalid JSON, random bytes, random trees."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.unit.wire.trees import HTTPS, chain, fault, parse
from wire.decoding.errors import BadInput
from wire.tree import Limits, parse_action


@pytest.mark.parametrize("key", ["action", "fallback"])
def test_depth_is_limited(key: str) -> None:
    """Fifty actions deep and no deeper, along nested actions and along fallbacks."""
    parse(chain(50, key))
    assert fault(chain(51, key))[1] == "nested deeper than 50 actions"


@pytest.mark.parametrize("opening", ['{"type":"hangup","action":', "[", '{"a":'])
def test_bottomless_nesting_is_bad_input(opening: str) -> None:
    """Nesting never raises a RecursionError."""
    with pytest.raises(BadInput):
        parse_action((opening * 2500).encode(), prefix="action")
    with pytest.raises(BadInput):
        parse_action((opening * 20_000).encode(), Limits(size_bytes=1_000_000))


def test_size_is_limited() -> None:
    """A tree larger than the limit is rejected before it is parsed."""
    with pytest.raises(BadInput) as caught:
        parse_action(b" " * 65_537)
    assert caught.value.code == "too_large"
    assert str(caught.value) == "larger than 65536 bytes"


@pytest.mark.parametrize("body", [b"", b"{", b'"\xff"', b"\xff\xfe", b"\x00", b'{"type":"play"'])
def test_what_is_no_json_is_bad_input(body: bytes) -> None:
    """Bytes that are no JSON, or no UTF-8, are bad input."""
    with pytest.raises(BadInput):
        parse_action(body)


@given(some.binary(max_size=200))
def test_no_bytes_do_harm(body: bytes) -> None:
    """Any bytes are an action or bad input."""
    try:
        parse_action(body)
    except BadInput as error:
        assert error.message  # noqa: PT017 - most bytes are no action


KEYS = some.sampled_from(["type", "data", "action", "timeout", "audioUrl", "number", "fallback"])
VALUES = some.sampled_from(["play", "say", "gather", "dial", "hangup", HTTPS, "1234", 5, None, -1])
TREES = some.recursive(
    VALUES,
    lambda inner: some.dictionaries(KEYS, inner, max_size=4) | some.lists(inner, max_size=2),
    max_leaves=12,
)


@given(TREES)
def test_no_tree_does_harm(tree: Any) -> None:
    """Any JSON of known field names is an action or bad input."""
    try:
        parse(tree)
    except BadInput as error:
        assert error.path.startswith("action")  # noqa: PT017 - either outcome is right
