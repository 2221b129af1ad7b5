"""Errors for an unknown field name the allowed ones."""

from typing import Any

import msgspec
import pytest

from wire.decoding.errors import BadInput, allowed_fields, from_decoder
from wire.tree import parse_action
from wire.verbs import Action


class Leaf(msgspec.Struct, tag="leaf", rename="camel", forbid_unknown_fields=True):
    """A tagged type."""

    some_size: int = 0


class Branch(msgspec.Struct, tag="branch", forbid_unknown_fields=True):
    """Another."""

    nodes: "list[Leaf | Branch] | None" = None
    by_name: "dict[str, Leaf]" = {}


Tree = Leaf | Branch


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ({"type": "leaf", "x": 1}, "type, someSize"),
        ({"type": "branch", "x": 1}, "type, nodes, by_name"),
        ({"type": "branch", "nodes": [{"type": "branch"}, {"type": "leaf", "x": 1}]},
         "type, someSize"),
        ({"type": "branch", "by_name": {"a": {"type": "leaf", "x": 1}}}, "type, someSize"),
    ],
)  # fmt: skip
def test_the_fields_of_the_object_that_is_meant(given: dict[str, Any], known: str) -> None:
    """In a union, the tag chooses the type."""
    fault = _fault(given)
    assert fault.path.endswith(".x") or fault.path == "x"
    assert fault.message == f"unknown field; one of {known}"


def _fault(given: dict[str, Any]) -> BadInput:
    body = msgspec.json.encode(given)
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.json.decode(body, type=Tree)
    return from_decoder(raised.value, shape=Tree, given=body)


def test_a_verbs_fields_are_named() -> None:
    """As they are written in a tree."""
    with pytest.raises(BadInput, match="one of text, voice, language, ssml") as raised:
        parse_action(b'{"type": "say", "data": {"text": "Hi", "speed": 2}}')
    assert raised.value.path == "data.speed"


@pytest.mark.parametrize("given", [b"{", b"[" * 100_000, b"null", b'{"type": "none"}'])
def test_unknown_shapes(given: bytes) -> None:
    """An invalid document, or an unknown type."""
    assert allowed_fields(Action, given, ".data") == ()
