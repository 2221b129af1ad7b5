"""`{{contact.fName}}` in a flow (spec: contact, an object for the flow)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.calls.templates import fill
from wire.errors import BadInput


def filled(flow: Any, contact: dict[str, Any]) -> Any:
    """Fill a flow."""

    def value(name: str) -> Any:
        return contact.get(name.removeprefix("contact."))

    return json.loads(fill(json.dumps(flow).encode(), value))


def test_a_field_is_filled_in() -> None:
    """Blanks within the braces are free; other kinds of values become text."""
    flow = {"type": "say", "data": {"text": "Hi {{contact.fName}}, {{ contact.n }}!"}}
    said = filled(flow, {"fName": "Ada", "n": 3})
    assert said["data"]["text"] == "Hi Ada, 3!"


def test_a_missing_field_is_empty() -> None:
    """A field that the contact lacks, or has as null, becomes empty."""
    assert filled("<{{contact.no}}{{contact.null}}>", {"null": None}) == "<>"


@pytest.mark.parametrize(
    "text", ["{{fName}}", "{{contact.}}", "{{contact.a b}}", "{contact.fName}", "{{ contact }}"]
)
def test_other_braces_stay(text: str) -> None:
    """Only fields of the contact are filled in."""
    assert filled(text, {"fName": "Ada"}) == text


def test_lists_are_filled_and_other_values_kept() -> None:
    """Numbers, booleans and null are as they were; keys are not touched."""
    flow = {"{{contact.a}}": ["{{contact.a}}", 1, 2.5, True, None]}
    assert filled(flow, {"a": "x"}) == {"{{contact.a}}": ["x", 1, 2.5, True, None]}


@given(some.text())
def test_no_field_can_add_structure(value: str) -> None:
    """A contact's field stays within its string, whatever it holds; it is not filled again."""
    assert filled({"text": "{{contact.a}}"}, {"a": value, "b": "!"}) == {"text": value}


@pytest.mark.parametrize(
    "body", [b"", b"{", b'"\xff"', b"[" * 100_000, b'{"a":' * 300 + b"1" + b"}" * 300]
)
def test_what_is_no_flow_is_bad_input(body: bytes) -> None:
    """No JSON, no UTF-8, or nested too deep."""
    with pytest.raises(BadInput):
        fill(body, lambda _name: None)
